// Which errors of a step are tried again.

import t from 'tap'
import { ToolError } from '../../../src/platform/author/tool-error.ts'
import { runStep } from '../../../src/request/questions/run-step.ts'
import { isOutage, toHandleError } from '../../../src/platform/store/records/handle-kind.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'

const outage = toHandleError({ kind: 'basket' } as never, new StoreUnavailable(new Error('away')))

for (const { what, error, attempts } of [
  { what: 'an outage of the store, as a handle throws it', error: outage, attempts: 3 },
  { what: 'an outage of the store', error: new StoreUnavailable(new Error('away')), attempts: 3 },
  { what: 'an error that is not for the model', error: new Error('broken'), attempts: 3 },
  { what: 'an error for the model', error: new ToolError('No such book.'), attempts: 1 }
]) {
  t.test(`${what} is tried ${attempts} times`, async (t) => {
    const time = new VirtualTime(t)
    let count = 0
    const step = runStep('key', { retries: 2, isOutage }, new AbortController().signal, () => {
      count++
      throw error
    })
    t.equal(await time.during(step.catch((error: unknown) => error), 60_000), error)
    t.equal(count, attempts)
  })
}
