// Opens the refusal of requests during overload.

import { Shedding } from '../features/overload/shedding.ts'
import { divide } from '../platform/limits/limits.ts'
import type { ServedShedding } from './features.ts'
import type { ProcessFacts } from './own-process.ts'
import type { ServiceBasis } from './state.ts'

/** @param countRequests the number of requests that are being served, without open streams. */
export function openShedding (
  { config: { overload, maxRequests, workerCount }, log }: Pick<ServiceBasis, 'config' | 'log'>,
  { memory }: ProcessFacts, countRequests: () => number
): ServedShedding {
  return new Shedding({
    isMeasured: overload === 'on', maxRequests: divide(maxRequests, workerCount), memory, log, countRequests
  })
}
