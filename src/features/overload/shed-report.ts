// Tells the log when the service begins to refuse requests because of overload, and when that has ended.

import { clock } from '../../base/time.ts'

interface ShedState {
  /** How many requests were refused in all. */
  readonly refused: number
  readonly loopDelayMs: number
  readonly memoryPercent: number
  /** How many requests are being served. */
  readonly requests: number
  /** How many may be served at once. */
  readonly limit: number
}

export interface ShedLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
}

const REPEAT_MS = 10_000
/** Overload is over when nothing was refused for this time. */
const CALM_MS = 5000

/** Call the returned function regularly. While requests are refused there is a line every ten seconds. */
export function createShedReport (log: ShedLog, now = clock.monotonic): (state: ShedState) => void {
  let refusedBefore = 0
  let seenAt = 0
  let reported = 0
  let mutedUntil = -Infinity
  let isShedding = false
  return ({ refused, ...state }) => {
    if (refused > refusedBefore) seenAt = now()
    refusedBefore = refused
    const isOver = isShedding && now() - seenAt >= CALM_MS
    const isDue = refused > reported && now() >= mutedUntil
    if (!isOver && !isDue) return
    const fields = { refused: refused - reported, ...state }
    if (isOver) log.info(fields, 'overload is over')
    else log.warn(fields, 'overloaded: a share of the requests is refused')
    reported = refused
    isShedding = !isOver
    mutedUntil = isOver ? -Infinity : now() + REPEAT_MS
  }
}
