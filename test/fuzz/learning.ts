// Takes the names out of an answer that later requests can use.

import type { Message } from '../helpers/request.ts'
import type { ReadAnswer } from './checks.ts'
import type { WireAnswer } from './client.ts'
import { Knowledge, type Draft } from './drafts.ts'

const LINK = /https:\/\/fuzzed\.example(\/mcp\/files\/[\w.~%/-]+)/g
const HANDLE = /nte_[\w-]+/g

/** @param onSealed called with each text that must not be in the log. */
export function learn (
  draft: Draft, { status, headers, body }: WireAnswer, { messages, eventIds }: ReadAnswer, known: Knowledge,
  onSealed: (text: string) => void
): void {
  const token = headers['mcp-session-id']
  const { protocolVersion } = messages[0]?.result ?? {}
  if (token !== undefined && typeof protocolVersion === 'string') {
    const session = { token, revision: protocolVersion }
    if (draft.kind === 'good request') known.probeSession = session
    else Knowledge.add(known.sessions, session)
    onSealed(token)
  }
  // An ended session is kept for a while: requests of it must be refused.
  if (draft.session !== undefined && draft.session === known.probeSession && status === 404) {
    known.probeSession = undefined
  }
  for (const id of eventIds) Knowledge.add(known.eventIds, id)
  for (const [, path = ''] of body.matchAll(LINK)) {
    Knowledge.add(known.links, path)
    onSealed(path)
  }
  for (const [handle] of body.matchAll(HANDLE)) Knowledge.add(known.handles, handle)
  for (const message of messages) learnOf(message, draft, known, onSealed)
}

function learnOf (message: Message, draft: Draft, known: Knowledge, onSealed: (text: string) => void): void {
  const { result } = message
  const isQuestion = message.method !== undefined && typeof message.id === 'string'
  if (isQuestion) Knowledge.add(known.questions, message.id)
  if (typeof result?.nextCursor === 'string') Knowledge.add(known.cursors, result.nextCursor)
  if (typeof result?.taskId === 'string') Knowledge.add(known.tasks, result.taskId)
  if (result?.inputRequests === undefined || result.taskId !== undefined) return
  const name = /"name":"(asks|asks_all|uploads)"/.exec(String(draft.body))?.[1]
  if (name === undefined) return
  const state = result.requestState
  Knowledge.add(known.rounds, { name, keys: Object.keys(result.inputRequests), state })
  if (typeof state === 'string') onSealed(state)
}
