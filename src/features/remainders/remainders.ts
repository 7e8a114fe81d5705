// Keeps what cuts leave out of results, under handles of the caller, and serves it piece by piece.

import { applyTo } from '../../base/apply-to.ts'
import { isLarge } from '../../base/large-text.ts'
import { createRotation } from '../../base/rotation.ts'
import { toDuration } from '../../base/words.ts'
import type { CompiledTool } from '../../catalog/compiled/compiled-primitive.ts'
import { LargeJson, writeJson, type JsonText } from '../../catalog/compiled/results/large-json.ts'
import { outputResult, textResult } from '../../catalog/compiled/results/tool-result-json.ts'
import { isToolError } from '../../platform/author/tool-error.ts'
import { lowerLimit } from '../../platform/limits/call-limits.ts'
import { holderOf, type Sender } from '../../platform/limits/holder.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { accepted } from '../../platform/schema/check.ts'
import { createReader } from '../../platform/schema/reader.ts'
import { Type } from '../../platform/schema/type.ts'
import { otherRelease, unknownHandle, type HandleKind } from '../../platform/store/records/handle-kind.ts'
import { createHandles } from '../../platform/store/records/handles.ts'
import { NO_LIMIT } from '../../platform/store/records/shares.ts'
import type { StateStore } from '../../platform/store/records/state-store.ts'
import type { RequestContext } from '../../request/pipeline/request-context.ts'
import type { ResultCutter } from '../../request/pipeline/seams.ts'
import { cutResult, NOTICE_BYTES, type Cut } from './cut-result.ts'
import { cutAtLine } from './cut-text.ts'
import { createRemainderRoom } from './remainder-room.ts'
import { READ_MORE_TOOL } from './read-more-tool.ts'

const TTL_MS = 3_600_000
/** The largest result that is cut, in bytes of JSON. */
const MAX_BYTES = 4_194_304
/** The largest part of a remainder, in bytes of JSON. A read takes one part from the store. */
const PART_BYTES = 260_000
/** A result of 4 MiB takes ten times its memory while it is cut. */
const cutting = createRotation(2)
/** The smallest piece that is served, in bytes. */
const LEAST_PIECE = 500

const KIND: HandleKind = {
  kind: 'remainder',
  prefix: 'more',
  idleTtlMs: TTL_MS,
  maxAgeMs: TTL_MS,
  // A part has less. It is not measured: that would keep its bytes beside its text.
  maxBytes: 8 * PART_BYTES,
  createdBy: undefined,
  goneAdvice: 'It has expired, or has given way to newer ones. Call the tool again.',
  checkValue: accepted,
  mayChangeValue: false
}
const CURSOR = /^(more_[\w-]{22})\.(\d{1,8})$/

/** `tool` is the key of the tool, `next` the handle of the next part, or `''`. */
const readPart = createReader(
  Type.Object({ tool: Type.String(), text: Type.String(), maxBytes: Type.Integer(), next: Type.String() }),
  (problems) => otherRelease(KIND, problems)
)

type CutTool = Pick<CompiledTool, 'key' | 'clientCheck'>

interface CutterOptions {
  readonly now?: () => number
  /** How much is kept for all callers together, in bytes. */
  readonly maxKeptBytes?: number
}

export function createResultCutter (
  store: StateStore, { maxKeptBytes, ...clock }: CutterOptions = {}
): ResultCutter {
  const handles = createHandles(store, { ...clock, purpose: 'remainders', maxPerOwner: NO_LIMIT })
  const room = createRemainderRoom(maxKeptBytes)
  /** Callers have their turns in rotation: parts that one of them reads all at once would stop the store. */
  const reading = createRotation(4)
  // A remainder is kept longer than its request, and never updated.
  const open = ({ principal, address }: Sender) => handles.open(
    KIND, { principal, ...(address !== undefined && { address }) }, () => AbortSignal.abort()
  )

  async function cut (
    request: RequestContext, tool: CutTool, result: JsonText, maxBytes: number
  ): Promise<string> {
    const { json, parts } = await cutting.run(nameOf(request.caller), async () => {
      const json = await writeJson(result)
      const bytes = Buffer.byteLength(json)
      const mayBeCut = bytes > maxBytes && bytes <= MAX_BYTES
      return { json, parts: mayBeCut ? await cutResult(json, maxBytes, tool.clientCheck) : undefined }
    })
    return parts === undefined ? json : parts.write(await keep(request, tool.key, parts, maxBytes))
  }

  /** Keeps the remainder. Resolves to the notice for the model. */
  async function keep (
    { caller, log }: RequestContext, tool: string, { remainder, summary }: Cut, maxBytes: number
  ): Promise<string> {
    const records = open(caller)
    const ids: string[] = []
    const drop = room.add(caller, remainder.length, () => {
      for (const id of ids) records.delete(id).catch(() => {})
    })
    try {
      // The last part first: each one names the next.
      for (const text of partsOf(remainder).toReversed()) {
        const { id } = await records.create({ tool, text, maxBytes, next: ids.at(-1) ?? '' })
        ids.push(id)
      }
      return `${summary} ${toAdvice(`${ids.at(-1)}.0`)}`
    } catch (error) {
      if (!isToolError(error)) throw error
      log.warn({ err: error, tool }, 'the remainder of a result was not kept')
      drop()
      return `${summary} ${error.message} The remainder could not be kept. ` +
        `Call ${tool} with arguments that ask for less.`
    }
  }

  return {
    fit (request, tool, result) {
      const { limits } = request.snapshot
      const maxBytes = lowerLimit(tool.limits.cutBytes, limits.cutBytes)
      const refusedAt = lowerLimit(tool.limits.resultBytes, limits.resultBytes) ?? Infinity
      if (maxBytes === undefined || maxBytes > refusedAt) return result
      return applyTo(result, (json) => {
        // A character has at most three bytes.
        const isShort = !(json instanceof LargeJson) && json.length * 3 <= maxBytes
        if (isShort || json.length > MAX_BYTES) return json
        request.observed.uncutLength = json.length
        const write = async () => await cut(request, tool, json, maxBytes)
        return isLarge(json) ? new LargeJson(json.length, write) : write()
      })
    },
    async readMore (request, args) {
      const { writer, caller, snapshot, view } = request
      const cursor = isObject(args) ? String(args.cursor) : ''
      const [, id = cursor, start = '0'] = CURSOR.exec(cursor) ?? []
      const part = readPart(await reading.run(nameOf(caller), async () => await open(caller).read(id)))
      const { tool, text, next } = part
      // The caller may have lost the scopes of the tool.
      if (!view.hasTool(tool) || Number(start) >= text.length) throw unknownHandle(KIND, cursor)
      const maxBytes = Math.min(part.maxBytes, snapshot.limits.resultBytes ?? Infinity)
      const frame = Buffer.byteLength(textResult(writer, '')) + NOTICE_BYTES
      const piece = cutAtLine(
        text.slice(Number(start)).toWellFormed(), Math.max(maxBytes - frame, LEAST_PIECE)
      )
      const end = Number(start) + piece.length
      const further = end < text.length ? `${id}.${end}` : next === '' ? undefined : `${next}.0`
      const notice = further === undefined
        ? 'That is all of the result.'
        : `There is more. ${toAdvice(further)}`
      const content = [piece, notice].map((text) => ({ type: 'text', text }))
      return await outputResult(writer, { content }, undefined)
    }
  }
}

function nameOf (sender: Sender): string { return holderOf(sender)?.name ?? '' }

function toAdvice (cursor: string): string {
  return `To read on, call the tool ${READ_MORE_TOOL} with cursor: "${cursor}". ` +
    `It is kept for ${toDuration(TTL_MS)} after the call.`
}

function partsOf (remainder: string): string[] {
  const parts: string[] = []
  for (let text = remainder; text !== ''; text = text.slice(parts.at(-1)?.length)) {
    parts.push(cutAtLine(text, PART_BYTES))
  }
  return parts
}
