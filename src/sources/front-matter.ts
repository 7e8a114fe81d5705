// A Markdown file with YAML on top. The YAML library refuses what could run code or grow without bound.

import { parse } from 'yaml'

const FENCED = /^\uFEFF?---\r?\n(?:([^]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/
const OPENED = /^\uFEFF?---[ \t]*\r?\n/

interface FrontMatter { readonly data: unknown, readonly body: string }

/**
 * Throws a YAMLParseError, whose message names line and column in the file, for front matter that is not
 * YAML; a SyntaxError for one without end.
 */
export function splitFrontMatter (text: string): FrontMatter {
  const [block, yaml = ''] = FENCED.exec(text) ?? []
  if (block === undefined && OPENED.test(text)) {
    throw new SyntaxError('front matter begins with --- and never ends; close it with a line ---')
  }
  if (block === undefined) return { data: {}, body: text }
  // A line of its own in place of the fence keeps the line numbers of complaints those of the file.
  return { data: parse(`\n${yaml}`) ?? {}, body: text.slice(block.length) }
}
