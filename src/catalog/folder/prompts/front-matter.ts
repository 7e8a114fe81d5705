// Splits a Markdown file into YAML and text. The YAML library runs no code, and limits the number of aliases.

import { parse } from 'yaml'

const FENCED = /^\uFEFF?---\r?\n(?:([^]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/
const OPENED = /^\uFEFF?---[ \t]*\r?\n/

interface FrontMatter { readonly data: unknown, readonly body: string }

/**
 * Throws a YAMLParseError with line and column in the file if the front matter is not YAML, and a SyntaxError
 * if the front matter has no end.
 */
export function splitFrontMatter (text: string): FrontMatter {
  const [block, yaml = ''] = FENCED.exec(text) ?? []
  if (block === undefined && OPENED.test(text)) {
    throw new SyntaxError('front matter begins with --- and never ends; close it with a line ---')
  }
  if (block === undefined) return { data: {}, body: text }
  // The empty line replaces the fence, so that line numbers in problems are those of the file.
  return { data: parse(`\n${yaml}`) ?? {}, body: text.slice(block.length) }
}
