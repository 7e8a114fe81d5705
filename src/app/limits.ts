// The composition root of the limits of calls.

import type { CallCounter } from '../limits/call-counter.ts'
import { createCallLimiter, type CallLimiter, type LimitHit } from '../limits/call-limiter.ts'
import { readCallLimits } from '../limits/call-limits.ts'
import type { AppConfig } from '../ops/config/config.ts'

export function openCallLimiter (
  config: AppConfig, counter: CallCounter, onHit?: (hit: LimitHit) => void
): CallLimiter {
  const limits = readCallLimits({
    calls: config.limitCalls,
    allCalls: config.limitAllCalls,
    running: config.limitRunning,
    allRunning: config.limitAllRunning,
    resultBytes: config.maxResultBytes
  })
  return createCallLimiter(counter, limits, onHit)
}
