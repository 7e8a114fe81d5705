// Reads YAML that authors write: settings, the lines that they are on, and the front matter of Markdown.

import { isMap, isNode, isSeq, LineCounter, parse, parseDocument } from 'yaml'
import { isObject } from '../../platform/protocol/json-rpc.ts'

export interface PlacedYaml {
  readonly data: unknown
  /** The line of a setting such as `csp.connectDomains[0]`, or of the nearest one around it. From 1. */
  lineOf (path: string): number
}

/** Throws a YAMLParseError with line and column. */
export function parsePlacedYaml (text: string): PlacedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) throw error
  return {
    data: document.toJS() ?? {},
    lineOf (path) {
      let node: unknown = document.contents
      let offset = 0
      for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
        const pair = isMap(node) ? node.items.find((item) => String(item.key) === key) : undefined
        const next: unknown = isSeq(node) ? node.items[Number(index)] : pair?.value
        const start = offsetOf(pair?.key ?? next)
        if (start === undefined) break
        offset = start
        node = next
      }
      return lines.linePos(offset).line
    }
  }
}

function offsetOf (node: unknown): number | undefined {
  const { range } = isNode(node) ? node : {}
  return range?.[0]
}

const FENCED = /^\uFEFF?---[ \t]*\r?\n(?:([^]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/
/** A first line `---`, and the paragraph after it. */
const RULED = /^\uFEFF?---[ \t]*\r?\n\s*([^]*?)(?:\r?\n[ \t]*\r?\n|$)/
/** A line such as `title: T`. Text with such a line is meant as YAML: it may say who sees the file. */
const KEY = /^[ \t{]*["']?[\w/.-]+["']?[ \t]*:(?:\s|$)/m
/** A line that may say who sees the file. Taken for text, it would open the file to everybody. */
const SCOPES = /^[^\w\n]*scopes?["']?[ \t]*(?::|\r?$)/mi
const RULE = 'or write *** for a rule'

interface FrontMatter { readonly data: unknown, readonly body: string }

/**
 * Splits a Markdown file into YAML and text. A first line `---` without a mapping after it is a rule of
 * Markdown, and part of the text. The YAML library runs no code, and limits the number of aliases. Throws a
 * YAMLParseError with line and column in the file if the front matter is not YAML, and a SyntaxError if it
 * has no end or is no mapping.
 */
export function splitFrontMatter (text: string): FrontMatter {
  const [block, yaml = ''] = FENCED.exec(text) ?? []
  const paragraph = block === undefined ? RULED.exec(text)?.[1] : undefined
  if (paragraph !== undefined && (KEY.test(paragraph) || SCOPES.test(text))) {
    throw new SyntaxError(`front matter begins with --- and never ends; close it with a line ---, ${RULE}`)
  }
  if (block === undefined) return { data: {}, body: text }
  const isMeant = KEY.test(yaml) || SCOPES.test(yaml)
  try {
    // The empty line replaces the fence, so that line numbers in problems are those of the file. Nothing but
    // comments is an empty mapping.
    const data: unknown = parse(`\n${yaml}`) ?? {}
    if (isObject(data)) return { data, body: text.slice(block.length) }
  } catch (error) {
    if (isMeant) throw error
  }
  if (!isMeant) return { data: {}, body: text }
  throw new SyntaxError(`front matter must have keys with values, as in title: T, ${RULE}`)
}
