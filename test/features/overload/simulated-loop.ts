// A model of an event loop under open load: requests come at random times whatever the service does. Each
// turn refuses or begins the requests that have come, and computes for those whose wait is over. Without the
// noise of a machine, a control can be judged to the percent.

import { RequestWindow } from '../../../src/features/overload/request-window.ts'

export interface Load {
  /** How long a tool waits, as for a database. */
  readonly waitMs: number
  /** How long it then computes. */
  readonly computeMs: number
  /** The requests, as a part of what the loop could compute. */
  readonly load: number
  /** What reading a request takes, and refusing one. */
  readonly readMs?: number
  readonly refuseMs?: number
  readonly seconds?: number
}

export interface Outcome {
  /** The served requests, as a part of what the loop could compute. */
  readonly served: number
  readonly refused: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The share that was refused in each second. */
  readonly shares: readonly number[]
}

/** Random, and the same in each run. */
function createRandom (): () => number {
  let state = 1
  return () => {
    state = Math.imul(state ^ state >>> 15, state | 1)
    state ^= state + Math.imul(state ^ state >>> 7, state | 61)
    return ((state ^ state >>> 14) >>> 0) / 2 ** 32
  }
}

export function simulate (
  { waitMs, computeMs, load, readMs = 0.1, refuseMs = 0.03, seconds = 20 }: Load, targetMs: number
): Outcome {
  const random = createRandom()
  const window = new RequestWindow(targetMs, 10_000)
  const capacity = 1000 / (computeMs + readMs)
  const pause = () => -Math.log(1 - random()) * 1000 / (capacity * load)
  const waiting: Array<{ readonly dueAt: number, readonly cameAt: number }> = []
  const latencies: number[] = []
  const counts = Array.from({ length: seconds }, () => ({ served: 0, refused: 0 }))
  let now = 0
  let nextAt = pause()
  let measureAt = 100
  let measuredAt = 0
  let mostServed = 0
  let idleMs = 0
  let begunSince = 0
  let turns: number[] = []
  while (now < seconds * 1000) {
    const began = now
    const ended = waiting.filter(({ dueAt }) => dueAt <= began)
    waiting.splice(0, waiting.length, ...waiting.filter(({ dueAt }) => dueAt > began))
    for (const { cameAt } of ended) {
      now += computeMs
      if (cameAt > seconds * 500) latencies.push(now - cameAt)
    }
    const arrivedBy = now
    let begun = 0
    while (nextAt <= arrivedBy) {
      const count = counts[Math.min(Math.floor(nextAt / 1000), seconds - 1)]
      if (waiting.length + 1 > window.limit) {
        now += refuseMs
        if (count !== undefined) count.refused++
      } else {
        begun++
        begunSince++
        now += readMs
        waiting.push({ cameAt: nextAt, dueAt: now + waitMs * (0.5 + random()) })
        if (count !== undefined) count.served++
      }
      mostServed = Math.max(mostServed, waiting.length)
      nextAt += pause()
    }
    turns.push(now - began)
    if (now >= measureAt) {
      const busy = turns.reduce((sum, turn) => sum + turn, 0)
      const squares = turns.reduce((sum, turn) => sum + turn ** 2, 0)
      window.update({
        delayMs: busy === 0 ? 0 : squares / Math.max(busy + idleMs, 1),
        utilization: 1 - idleMs / (now - measuredAt),
        elapsedMs: now - measuredAt,
        mostServed,
        begun: begunSince
      })
      measuredAt = now
      measureAt = now + 100
      mostServed = waiting.length
      begunSince = 0
      idleMs = 0
      turns = []
    }
    if (ended.length === 0 && begun === 0 && now === began) {
      const next = Math.min(nextAt, measureAt, ...waiting.map(({ dueAt }) => dueAt))
      idleMs += next - now
      now = next
    }
  }
  const half = counts.slice(seconds / 2)
  const sorted = latencies.toSorted((one, other) => one - other)
  return {
    served: half.reduce((sum, { served }) => sum + served, 0) / (seconds / 2) / capacity,
    refused: half.reduce((sum, { refused }) => sum + refused, 0) / (seconds / 2) / capacity,
    p50Ms: sorted[Math.floor(sorted.length / 2)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    shares: counts.map(({ served, refused }) => refused / Math.max(served + refused, 1))
  }
}
