// Writes the output of a tool's `run` as a CallToolResult.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result

import type { ToolError } from '../../../platform/author/tool-error.ts'
import {
  isToolResult, type CallToolResult, type ToolResultOptions
} from '../../../platform/author/tool-result.ts'
import { isLarge, requestsTurn, toJsonString } from '../../../base/large-text.ts'
import { toWellFormedJson } from '../../../base/text.ts'
import type { ContentBlock, Meta } from '../../../platform/protocol/content.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Check, Verdict } from '../../../platform/schema/check.ts'
import { findJsonLoss, isPlainJson } from '../../../platform/schema/json-form.ts'
import { checkContent, checkMeta, isContent } from './content-checks.ts'
import { hasLargeText, toBlockJson, toLargeListJson, toListJson } from './content-json.ts'
import { addLinkTexts } from './link-texts.ts'
import { LargeJson, writeJson, type JsonText } from './large-json.ts'
import { ContractError, type ResultWriter } from './result-json.ts'
import { toSafeBlock, toSafeJson, toSafeText } from './safe-text.ts'

/** `content` and `structuredContent` are JSON. */
interface ResultMembers {
  readonly content: string
  readonly structuredContent?: string | undefined
  readonly isError?: boolean
  readonly meta?: Meta | undefined
}

/** A result whose author has written all parts. `_meta` is not checked. */
type ExplicitResult = Omit<ToolResultOptions, '_meta'> & { readonly _meta?: unknown }

type OnLoss = (problems: readonly string[]) => void

/** Writes a result whose text is for the model. */
export function textResult (writer: ResultWriter, text: string): string {
  return write(writer, { content: `[${textBlock(text)}]` })
}

/** Writes a result with `isError`, whose text is for the model. */
export function errorResult (writer: ResultWriter, text: string): string {
  return write(writer, { content: `[${textBlock(text)}]`, isError: true })
}

/** Throws a ContractError when the content of the error is malformed. */
export function toolErrorResult (writer: ResultWriter, { message, content }: ToolError): string {
  const blocks = [textBlock(message), ...toSafeContent(writer, content).map(toBlockJson)]
  return write(writer, { content: `[${blocks.join(',')}]`, isError: true })
}

/** Whether the result of the output has `isError`. */
export function isErrorOutput (output: unknown, checkOutput: Check | undefined): boolean {
  if (!isObject(output) || output.isError !== true) return false
  if (isToolResult(output)) return true
  return checkOutput === undefined ? Array.isArray(output.content) : isWholeResult(output)
}

/** Whether the result has `isError`. Few have the text, and fewer are errors: most need no parsing. */
export function isErrorJson (result: string): boolean {
  return result.includes('"isError":true') && JSON.parse(result).isError === true
}

/**
 * Throws a ContractError when the output does not match the tool's definition.
 * @param onLoss hears why the structured content of an error is left out.
 */
export function outputResult (
  writer: ResultWriter, output: unknown, checkOutput: Check | undefined, onLoss?: OnLoss
): JsonText | Promise<JsonText> {
  if (isToolResult(output)) return explicitResult(writer, output, checkOutput, onLoss)
  if (checkOutput !== undefined) {
    return mayBeWholeResult(output)
      ? wholeResult(writer, output, checkOutput, onLoss)
      : checkedResult(writer, checkOutput(output))
  }
  if (typeof output === 'string') {
    return isLarge(output) ? largeTextResult(writer, output) : textResult(writer, output)
  }
  if (isObject(output) && Array.isArray(output.content)) {
    const { content, structuredContent, isError, _meta } = output
    const result = { content, structuredContent, isError: isError === true, _meta }
    return writeExplicit(writer, result, structuredContent)
  }
  if (output === undefined) return write(writer, { content: '[]' })
  return structuredResult(writer, output, toStructuredJson(output))
}

/** Writes structured content, and its JSON as a text block for clients and models that read only text. */
function structuredResult (writer: ResultWriter, value: unknown, json: string): JsonText {
  const structuredContent = writer.mayBeStructuredContent(value) ? json : undefined
  return isLarge(json)
    ? largeTextResult(writer, json, toSafeJson, structuredContent)
    : write(writer, { content: `[${textBlock(json, toSafeJson)}]`, structuredContent })
}

function largeTextResult (
  writer: ResultWriter, text: string, toSafe = toSafeText, structuredContent?: string
): LargeJson {
  const toResult = (block: string) => write(writer, { content: `[${block}]`, structuredContent })
  return largeTextBlock(text, toSafe).within(toResult)
}

function checkedResult (
  writer: ResultWriter, verdict: Verdict | Promise<Verdict>
): JsonText | Promise<JsonText> {
  if (verdict instanceof Promise) return verdict.then((settled) => checkedResult(writer, settled))
  const value = acceptedValue(verdict)
  return structuredResult(writer, value, toWellFormedJson(JSON.stringify(value)))
}

function acceptedValue (verdict: Verdict): unknown {
  if (!verdict.ok) {
    throw new ContractError('the structured content does not match outputSchema:', verdict.problems)
  }
  if (verdict.value === undefined) throw new ContractError('the structured content', ['is missing'])
  return verdict.value
}

const RESULT_KEYS = new Set(['content', 'structuredContent', 'isError', '_meta'])

/** Whether the output has the members of a CallToolResult, and no others. */
function mayBeWholeResult (output: unknown): output is Readonly<Record<string, unknown>> {
  return isObject(output) && Array.isArray(output.content) &&
    Object.keys(output).every((key) => RESULT_KEYS.has(key))
}

/** Whether the output is a CallToolResult, as handlers of the official SDK return it. */
function isWholeResult (output: unknown): output is CallToolResult {
  return mayBeWholeResult(output) && isContent(output.content)
}

/**
 * Writes an output in the form of a CallToolResult. It is one if it has `isError` or structured content that
 * matches. Otherwise all of it is the structured content: a schema may have a member `content` too.
 */
async function wholeResult (
  writer: ResultWriter, output: Readonly<Record<string, unknown>>, checkOutput: Check, onLoss?: OnLoss
): Promise<JsonText> {
  const { structuredContent } = output
  if (isWholeResult(output)) {
    if (output.isError === true) return await explicitResult(writer, output, checkOutput, onLoss)
    const part = structuredContent === undefined ? undefined : await checkOutput(structuredContent)
    if (part?.ok === true) return await writeExplicit(writer, output, part.value)
  }
  const verdict = await checkOutput(output)
  if (!verdict.ok) {
    const part = structuredContent === undefined ? verdict : await checkOutput(structuredContent)
    throw new ContractError('the structured content does not match outputSchema:', [
      ...part.ok ? [] : part.problems,
      ...isContent(output.content) ? [] : ['the blocks of content are malformed'],
      'return what outputSchema describes, or { content, structuredContent } with it'
    ])
  }
  return isWholeResult(output) && output.content.some(({ type }) => type !== 'text')
    ? await writeExplicit(writer, { content: output.content }, verdict.value)
    : checkedResult(writer, verdict)
}

async function explicitResult (
  writer: ResultWriter, result: ExplicitResult, checkOutput: Check | undefined, onLoss?: OnLoss
): Promise<JsonText> {
  const { structuredContent, isError = false } = result
  if (checkOutput === undefined || (isError && structuredContent === undefined)) {
    return await writeExplicit(writer, result, structuredContent)
  }
  const verdict = await checkOutput(structuredContent)
  if (!isError) return await writeExplicit(writer, result, acceptedValue(verdict))
  // Clients check it with an error too, and refuse all of the result. A model still reads it as text.
  if (!verdict.ok) onLoss?.(verdict.problems)
  return await writeExplicit(writer, result, verdict.ok ? verdict.value : structuredContent, verdict.ok)
}

/** @param isSent whether the value is sent as structured content, and not only as text. */
async function writeExplicit (
  writer: ResultWriter, result: ExplicitResult, value: unknown, isSent = true
): Promise<JsonText> {
  const { content = [], isError = false } = result
  const meta = checkMeta(result._meta)
  const json = value === undefined ? undefined : toStructuredJson(value)
  const structuredContent = isSent && writer.mayBeStructuredContent(value) ? json : undefined
  const blocks = toSafeContent(writer, content, result.links)
  const list = hasLargeText(blocks)
    ? toLargeListJson(blocks, toBlockJson)
    : toListJson(blocks, toBlockJson)
  const members = { structuredContent, isError, meta }
  const toResult = (content: string) => write(writer, { content, ...members })
  if (json === undefined || content.some((block) => block.type === 'text' || isDataIn(block, json))) {
    return typeof list === 'string' ? toResult(list) : list.within(toResult)
  }
  // For clients that read only text.
  const addText = (blocks: string, text: string) => (
    blocks === '[]' ? `[${text}]` : `${blocks.slice(0, -1)},${text}]`
  )
  const text = isLarge(json) ? largeTextBlock(json, toSafeJson) : textBlock(json, toSafeJson)
  if (typeof list === 'string' && typeof text === 'string') return toResult(addText(list, text))
  return new LargeJson(list.length + text.length, async () => (
    toResult(addText(await writeJson(list), await writeJson(text)))
  ))
}

/** Whether the JSON has the bytes of the block. In a text they would only fill the context of the model. */
function isDataIn (block: ContentBlock, json: string): boolean {
  const base64 = 'data' in block
    ? block.data
    : block.type === 'resource' && 'blob' in block.resource ? block.resource.blob : ''
  return base64 !== '' && json.includes(base64)
}

function write (
  writer: ResultWriter, { content, structuredContent, isError = false, meta }: ResultMembers
): string {
  const structured = structuredContent === undefined ? '' : `,"structuredContent":${structuredContent}`
  return writer.write(`"content":${content}${structured}${isError ? ',"isError":true' : ''}`, meta)
}

function textBlock (text: string, toSafe = toSafeText): string {
  return `{"type":"text","text":${JSON.stringify(toSafe(text))}}`
}

function largeTextBlock (text: string, toSafe: (text: string) => string): LargeJson {
  return new LargeJson(text.length, async () => {
    // Before it the output was checked and became JSON, which takes up to 30 ms for 5 MiB.
    await requestsTurn()
    return `{"type":"text","text":${await toJsonString(toSafe(text))}}`
  })
}

/** Throws a ContractError when a block is malformed. */
function toSafeContent (
  writer: ResultWriter, content: readonly ContentBlock[], links: ToolResultOptions['links'] = 'texts'
): readonly ContentBlock[] {
  const blocks = checkContent(content).map(toSafeBlock)
  return writer.toContent(links === 'texts' ? addLinkTexts(blocks) : blocks)
}

/** Throws a ContractError if JSON would lose a part of the value. The copy in a text block is equal. */
function toStructuredJson (value: unknown): string {
  const loss = isPlainJson(value) ? undefined : findJsonLoss(value)
  if (loss !== undefined) throw new ContractError('the result:', [loss])
  return toWellFormedJson(JSON.stringify(value))
}
