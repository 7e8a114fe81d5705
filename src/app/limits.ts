// The composition root of the limits of calls.

import { readCallLimits } from '../access/call-limits.ts'
import type { AppConfig } from '../config.ts'
import { createCallLimiter, type LimitHit } from '../dispatch/call-limiter.ts'
import type { Limiter } from '../dispatch/limiter.ts'
import type { CallCounter } from '../state/call-counter.ts'

export function openCallLimiter (
  config: AppConfig, counter: CallCounter, onHit?: (hit: LimitHit) => void
): Limiter {
  const limits = readCallLimits({
    calls: config.limitCalls,
    allCalls: config.limitAllCalls,
    running: config.limitRunning,
    allRunning: config.limitAllRunning,
    resultBytes: config.maxResultBytes
  })
  return createCallLimiter(counter, limits, onHit)
}
