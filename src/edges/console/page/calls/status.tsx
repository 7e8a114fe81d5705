// The status of a call in words and colours.

import { isRecord } from '../connection/json.ts'
import type { CallRecord } from './call-record.ts'

export function describeStatus (call: CallRecord): string {
  const duration = call.durationMs === undefined ? '' : ` in ${toDuration(call.durationMs)}`
  switch (call.status) {
    case 'running': return 'running'
    case 'asking': return 'asks you'
    case 'task': return `task: ${call.task?.status ?? 'working'}`
    case 'complete': return (isErrorResult(call) ? 'tool error' : 'done') + duration
    case 'failed': return `failed${duration}`
    case 'cancelled': return `cancelled${duration}`
    case 'lost': return 'the page was closed'
  }
}

export function StatusChip ({ call }: { readonly call: CallRecord }) {
  return <span class={`chip ${toneOf(call)}`}>{describeStatus(call)}</span>
}

function toneOf (call: CallRecord): string {
  if (call.status === 'failed' || isErrorResult(call)) return 'bad'
  if (call.status === 'complete') return 'good'
  return call.status === 'asking' ? 'warn' : 'plain'
}

/** Names the caller that the person chose, and says whether a screen called. */
export function describeIdentity ({ caller: { identity }, isOfScreen }: CallRecord): string {
  const subject = identity?.subject === '' ? 'nobody' : identity?.subject
  return [isOfScreen && 'by a screen', subject !== undefined && `as ${subject}`].filter(Boolean).join(' ')
}

function isErrorResult ({ result }: CallRecord): boolean {
  return isRecord(result) && result.isError === true
}

export function toDuration (ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
}
