// Parses YAML, and knows the line of each setting in it.

import { isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml'

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
        const pair = isMap(node) ? node.items.find((one) => String(one.key) === key) : undefined
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
