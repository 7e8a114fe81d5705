// Cuts a result that is too large, between lines or sentences of its longest text, or between rows of its
// structured content.

import { toWellFormedJson } from '../../base/text.ts'
import { toSafeJson } from '../../catalog/compiled/results/safe-text.ts'
import type { ContentBlock } from '../../platform/protocol/content.ts'
import { cutAtLine } from './cut-text.ts'

export interface Cut {
  /** The text that was left out. Of rows, each line has one as JSON. */
  readonly remainder: string
  /** The structured content after the cut, if the result has any. The schema must accept it. */
  readonly structuredContent?: unknown
  /** The part that the result still has: `the first 20 of 100 rows of "items"`. */
  readonly extent: string
  /** Returns the cut result as JSON. @param notice a text block for the model. */
  write (notice: string): string
}

interface ParsedResult { readonly content: readonly ContentBlock[], readonly structuredContent?: unknown }

interface Rows { readonly items: unknown[], readonly name: string, readonly length: number }

/** The bytes that a notice may take, with the block around it. */
export const NOTICE_BYTES = 600

/**
 * Returns `undefined` if the result cannot be cut to this length.
 * @param json a CallToolResult in the form of any revision.
 */
export function cutResult (json: string, maxBytes: number): Cut | undefined {
  const result: ParsedResult = JSON.parse(json)
  const bytes = maxBytes - NOTICE_BYTES
  return cutRows(result, bytes) ?? cutText(result, bytes)
}

function cutText (result: ParsedResult, maxBytes: number): Cut | undefined {
  const lengths = result.content.map((block) => block.type === 'text' ? block.text.length : 0)
  const index = lengths.indexOf(Math.max(...lengths))
  const block = result.content[index]
  if (block?.type !== 'text') return undefined
  const text = block.text.toWellFormed()
  const withText = (part: string) => (
    { ...result, content: result.content.with(index, { ...block, text: part }) }
  )
  const head = cutAtLine(text, maxBytes - bytesOf(withText('')))
  if (head === '') return undefined
  return {
    remainder: text.slice(head.length),
    extent: `the first ${head.length} of ${text.length} characters`,
    write: (notice) => write(withText(head), notice)
  }
}

function cutRows (result: ParsedResult, maxBytes: number): Cut | undefined {
  const { content, structuredContent } = result
  const rows = findRows(structuredContent)
  if (rows === undefined) return undefined
  const { items, name } = rows
  const toCopy = () => toSafeJson(JSON.stringify(structuredContent))
  const json = toCopy()
  const copy = content.findIndex((block) => block.type === 'text' && block.text === json)
  const withCopy = () => (
    copy === -1 ? result : { ...result, content: content.with(copy, { type: 'text', text: toCopy() }) }
  )
  const lines = items.map((item) => JSON.stringify(item))
  const values = items.splice(0)
  let bytes = bytesOf(withCopy())
  const end = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1 + (copy === -1 ? 0 : bytesOf(toSafeJson(line)) - 1)
    return bytes > maxBytes
  })
  const isCut = end > 0
  for (const value of isCut ? values.slice(0, end) : values) items.push(value)
  if (!isCut) return undefined
  return {
    remainder: lines.slice(end).join('\n'),
    structuredContent,
    extent: `the first ${end} of ${lines.length} rows${name === '' ? '' : ` of ${JSON.stringify(name)}`}`,
    write: (notice) => write(withCopy(), notice)
  }
}

/** Finds the array with the most JSON that has two items or more: of nested ones the outer one. */
function findRows (value: unknown): Rows | undefined {
  let rows: Rows | undefined
  const measure = (part: unknown, name: string): number => {
    if (typeof part !== 'object' || part === null) return typeof part === 'string' ? part.length + 2 : 8
    let length = 2
    if (!Array.isArray(part)) {
      for (const [key, member] of Object.entries(part)) length += key.length + 4 + measure(member, key)
      return length
    }
    for (const item of part) length += 1 + measure(item, name)
    if (part.length > 1 && length > (rows?.length ?? 0)) rows = { items: part, name, length }
    return length
  }
  measure(value, '')
  return rows
}

function write (result: ParsedResult, notice: string): string {
  const content = [...result.content, { type: 'text', text: notice }]
  return toWellFormedJson(JSON.stringify({ ...result, content }))
}

function bytesOf (value: unknown): number { return Buffer.byteLength(JSON.stringify(value)) }
