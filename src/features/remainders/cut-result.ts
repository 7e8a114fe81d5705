// Cuts a result that is too large, between rows of its structured content, or between lines or sentences of
// its texts.

import { requestsTurn } from '../../base/large-text.ts'
import { toWellFormedJson } from '../../base/text.ts'
import { quote } from '../../base/words.ts'
import { NOTICE } from '../../catalog/compiled/definitions/compile-tool.ts'
import { toSafeJson } from '../../catalog/compiled/results/safe-text.ts'
import type { CallToolResult } from '../../platform/author/tool-result.ts'
import type { ContentBlock } from '../../platform/protocol/content.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchemaCheck } from '../../platform/schema/json-schema.ts'
import { cutAtLine } from './cut-text.ts'

export interface Cut {
  /** The text that was left out. Of rows, each line has one as JSON. */
  readonly remainder: string
  /** What the model is told of the cut. */
  readonly summary: string
  /** Returns the cut result as JSON. @param notice for the model. */
  write (notice: string): string
}

/** The bytes that a notice may take, with the frame around it. */
export const NOTICE_BYTES = 600
/** The most characters of a name in a notice. Each may take 7 bytes. */
const MAX_NAME = 20
/** How many rows are written in one turn of the event loop. */
const SLICE = 20_000

/**
 * Resolves to `undefined` if the result cannot be cut to this length. Cut structured content has the notice
 * too: the models of some hosts read nothing else. If the schema refuses that, only the text is sent, as an
 * error: a success would need structured content.
 * @param json a CallToolResult in the form of any revision.
 * @param check of the output schema, if there is one.
 */
export async function cutResult (
  json: string, maxBytes: number, check: JsonSchemaCheck | undefined
): Promise<Cut | undefined> {
  const result: CallToolResult = JSON.parse(json)
  const { structuredContent, ...texts } = result
  if (structuredContent === undefined) return cutTexts(result, maxBytes)
  await requestsTurn()
  const text = toText(structuredContent)
  const copy = findCopy(result, text)
  const cut = await cutRows(result, copy, maxBytes, check) ?? cutTexts(result, maxBytes)
  if (cut !== undefined) return cut
  const content = copy === -1 ? [...texts.content, { type: 'text' as const, text }] : texts.content
  return check === undefined || result.isError === true
    ? cutTexts({ ...texts, content }, maxBytes)
    : cutTexts({ ...texts, content, isError: true }, maxBytes, 'This is no error. ')
}

/** @param copy the index of the text that has the structured content too, or -1. */
async function cutRows (
  result: CallToolResult, copy: number, maxBytes: number, check: JsonSchemaCheck | undefined
): Promise<Cut | undefined> {
  const { structuredContent: value } = result
  if (!isObject(value) || NOTICE in value) return undefined
  await requestsTurn()
  const tables = findRows(value)
  const lengthOf = (items: unknown) => tables.length === 1 ? 0 : JSON.stringify(items).length
  const [rows] = tables.map((table) => ({ ...table, length: lengthOf(table.items) }))
    .sort((left, right) => right.length - left.length)
  if (rows === undefined) return undefined
  const { items, name } = rows
  const all = items.splice(0)
  const write = (notice: string) => toJson({
    ...withText(result, copy, toText(value)), structuredContent: { ...value, [NOTICE]: notice }
  }, notice)
  let bytes = Buffer.byteLength(write('')) + 2 * NOTICE_BYTES
  const lines: string[] = []
  while (lines.length < all.length) {
    await requestsTurn()
    for (const item of all.slice(lines.length, lines.length + SLICE)) lines.push(JSON.stringify(item))
  }
  const end = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1
    if (copy !== -1) bytes += Buffer.byteLength(JSON.stringify(toSafeJson(line))) - 1
    return bytes > maxBytes
  })
  for (const item of all.slice(0, end)) items.push(item)
  const summary = summarize(`${end} of ${lines.length} rows of ${toSafeJson(quote(name, MAX_NAME))}`)
  if (end > 0 && check?.({ ...value, [NOTICE]: summary }).ok !== false) {
    return { remainder: lines.slice(end).join('\n'), summary, write }
  }
  for (const item of all.slice(items.length)) items.push(item)
  return undefined
}

/** Lists the outer arrays that have two items or more. */
function findRows (value: object, name = ''): Array<{ items: unknown[], name: string }> {
  if (Array.isArray(value) && value.length > 1) return [{ items: value, name }]
  return Object.entries(value).flatMap(([key, member]) => (
    typeof member === 'object' && member !== null ? findRows(member, Array.isArray(value) ? name : key) : []
  ))
}

/** Cuts the longest text if the others fit beside it. Otherwise texts at the end are left out too. */
function cutTexts (result: CallToolResult, maxBytes: number, intro = ''): Cut | undefined {
  const { content } = result
  const lengthOf = (block: ContentBlock) => block.type === 'text' ? block.text.length : -1
  const longest = Math.max(...content.map(lengthOf))
  const roomBeside = (isOther: (block: ContentBlock) => boolean) => (
    maxBytes - NOTICE_BYTES - Buffer.byteLength(toJson({ ...result, content: content.filter(isOther) }, ''))
  )
  const isShorter = (block: ContentBlock) => lengthOf(block) < longest
  const isNoText = ({ type }: ContentBlock) => type !== 'text'
  const isFixed = roomBeside(isShorter) > NOTICE_BYTES ? isShorter : isNoText
  let room = roomBeside(isFixed)
  let [characters, all] = [0, 0]
  const remainder: string[] = []
  const blocks = content.flatMap((block) => {
    if (isFixed(block) || block.type !== 'text') return [block]
    const text = block.text.toWellFormed()
    room -= Buffer.byteLength(JSON.stringify({ ...block, text: '' })) + 1
    const head = remainder.length > 0 ? '' : cutAtLine(text, room)
    room -= Buffer.byteLength(JSON.stringify(head))
    if (head !== text) remainder.push(text.slice(head.length))
    characters += head.length
    all += text.length
    return head === '' ? [] : [{ ...block, text: head }]
  })
  if (characters === 0) return undefined
  return {
    remainder: remainder.join('\n'),
    summary: intro + summarize(`${characters} of ${all} characters`),
    write: (notice) => toJson({ ...result, content: blocks }, notice)
  }
}

const summarize = (part: string) => `The result is too large and was cut: it has the first ${part}.`

/** Finds the text that is this JSON, in any layout. Returns its index, or -1. */
function findCopy ({ content }: CallToolResult, json: string): number {
  return content.findIndex((block) => {
    if (block.type !== 'text' || block.text === json) return block.type === 'text'
    try {
      return toText(JSON.parse(block.text)) === json
    } catch {
      return false
    }
  })
}

function toText (value: unknown): string { return toSafeJson(JSON.stringify(value)) }

/** @param index of the text block, or -1 for none. */
function withText (result: CallToolResult, index: number, text: string): CallToolResult {
  const { content } = result
  const block = content[index]
  return block?.type === 'text' ? { ...result, content: content.with(index, { ...block, text }) } : result
}

function toJson (result: CallToolResult, notice: string): string {
  const content = [...result.content, { type: 'text', text: notice }]
  return toWellFormedJson(JSON.stringify({ ...result, content }))
}
