// Keeps what cuts leave out of results, under a handle of the caller, and serves it piece by piece.

import { toDuration } from '../../base/words.ts'
import type { CompiledTool } from '../../catalog/compiled/compiled-primitive.ts'
import { LargeJson, type JsonText } from '../../catalog/compiled/results/large-json.ts'
import { outputResult, textResult } from '../../catalog/compiled/results/tool-result-json.ts'
import { isToolError } from '../../platform/author/tool-error.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { accepted } from '../../platform/schema/check.ts'
import { unknownHandle, type HandleKind } from '../../platform/store/records/handle-kind.ts'
import { createHandles } from '../../platform/store/records/handles.ts'
import type { StateStore } from '../../platform/store/records/state-store.ts'
import type { RequestContext } from '../../request/pipeline/request-context.ts'
import type { ResultCutter } from '../../request/pipeline/seams.ts'
import { cutResult, NOTICE_BYTES, type Cut } from './cut-result.ts'
import { cutAtLine } from './cut-text.ts'
import { READ_MORE_TOOL } from './read-more-tool.ts'

const TTL_MS = 3_600_000
/** The longest result that is cut, in characters of JSON: to read and to write it takes up to 40 ms. */
const MAX_LENGTH = 4_194_304
/** The smallest piece, in bytes. */
const LEAST_PIECE = 500

const KIND: HandleKind = {
  kind: 'remainder',
  prefix: 'more',
  idleTtlMs: TTL_MS,
  maxAgeMs: TTL_MS,
  maxBytes: 2 * MAX_LENGTH,
  createdBy: undefined,
  checkValue: accepted,
  mayChangeValue: false
}
const CURSOR = /^(more_[\w-]{22})\.(\d{1,8})$/

type CutTool = Pick<CompiledTool, 'key' | 'checkOutput'>

export function createResultCutter (store: StateStore, now?: { readonly now?: () => number }): ResultCutter {
  const handles = createHandles(store, { ...now, limit: 'remainders' })
  const open = ({ caller, lifetime }: RequestContext) => handles.open(KIND, caller, () => lifetime.signal)

  async function cut (
    request: RequestContext, tool: CutTool, result: JsonText, maxBytes: number
  ): Promise<string> {
    const json = typeof result === 'string' ? result : await result.write()
    if (Buffer.byteLength(json) <= maxBytes) return json
    const parts = cutResult(json, maxBytes)
    if (parts === undefined || !await isAccepted(tool, parts)) return json
    return parts.write(await keep(request, tool, parts, maxBytes))
  }

  /** Keeps the remainder. Resolves to the notice for the model. */
  async function keep (
    request: RequestContext, { key }: CutTool, { remainder: text, extent }: Cut, maxBytes: number
  ): Promise<string> {
    const head = `The result is too large and was cut: it has ${extent}.`
    try {
      const { id } = await open(request).create({ tool: key, text, maxBytes })
      return `${head} ${toAdvice(id, 0)}`
    } catch (error) {
      if (!isToolError(error)) throw error
      request.log.warn({ err: error, tool: key }, 'the remainder of a result was not kept')
      return `${head} The remainder could not be kept. Call ${key} with arguments that ask for less.`
    }
  }

  return {
    fit (request, tool, result, maxBytes) {
      if (result.length > MAX_LENGTH) return result
      // A character has at most three bytes.
      const isShort = !(result instanceof LargeJson) && result.length * 3 <= maxBytes
      return isShort ? result : cut(request, tool, result, maxBytes)
    },
    async readMore (request, args) {
      const cursor = isObject(args) ? String(args.cursor) : ''
      const [, id = cursor, start = '0'] = CURSOR.exec(cursor) ?? []
      const { tool, text, maxBytes } = readRemainder(await open(request).read(id))
      // The caller may have lost the scopes of the tool.
      if (!request.view.hasTool(tool)) throw unknownHandle(KIND, id)
      const { writer } = request
      const remainder = text.slice(Number(start)).toWellFormed()
      const frame = Buffer.byteLength(textResult(writer, '')) + NOTICE_BYTES
      const piece = cutAtLine(remainder, Math.max(maxBytes - frame, LEAST_PIECE))
      const end = Number(start) + piece.length
      const notice = end < text.length ? `There is more. ${toAdvice(id, end)}` : 'That is all of the result.'
      const content = [piece, notice].map((text) => ({ type: 'text', text }))
      return await outputResult(writer, { content }, undefined)
    }
  }
}

function toAdvice (id: string, start: number): string {
  return `To read on, call the tool ${READ_MORE_TOOL} with cursor: "${id}.${start}". ` +
    `It is kept for ${toDuration(TTL_MS)} after the call.`
}

async function isAccepted ({ checkOutput }: CutTool, { structuredContent }: Cut): Promise<boolean> {
  if (checkOutput === undefined || structuredContent === undefined) return true
  return (await checkOutput(structuredContent)).ok
}

/** Throws for a value that only a later release could have kept. */
function readRemainder (value: unknown) {
  if (isObject(value)) {
    const { tool, text, maxBytes } = value
    if (typeof tool === 'string' && typeof text === 'string' && typeof maxBytes === 'number') {
      return { tool, text, maxBytes }
    }
  }
  throw new TypeError('a kept remainder has another form')
}
