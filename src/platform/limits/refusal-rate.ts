// Limits how many tokens that an authorization server refuses come from one network. A flood of them would
// use up what the server answers this service.

import type { RefusalRate } from '../access/introspection-verifier.ts'
import { toDuration } from '../../base/words.ts'
import { createOutageLog } from '../../base/outage-log.ts'
import { limitReached } from '../protocol/errors.ts'
import { ShareUsed } from './limits.ts'
import { createLocalCallCounter, type LocalCallCounter } from './local-call-counter.ts'
import type { Rate } from './rate.ts'

/** An office behind one address may have hundreds of clients whose tokens have expired over night. */
const RATE: Rate = { calls: 300, perMs: 60_000 }

interface RefusalRateOptions {
  /** Gets one line in ten seconds, and no line of each request. */
  readonly log: { warn (fields: object, message: string): void }
  readonly counter?: LocalCallCounter
}

export function createRefusalRate (
  { log, counter = createLocalCallCounter() }: RefusalRateOptions
): RefusalRate {
  const warn = createOutageLog({ log, message: 'tokens are not checked: too many of a network were refused' })
  return {
    check (network) {
      const waitMs = counter.waitMs({ ...RATE, key: network })
      if (waitMs === 0) return
      warn(new ShareUsed(network, RATE.calls))
      const problem = `The limit is reached: ${RATE.calls} access tokens of your address were refused in ` +
        `${toDuration(RATE.perMs)}.`
      throw limitReached(problem, 429, Math.ceil(waitMs / 1000))
    },
    count (network) {
      counter.count([{ ...RATE, key: network }])
    }
  }
}
