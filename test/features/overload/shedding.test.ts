// Which requests are refused by the settings alone: without a load, and with more memory in use than allowed.

import t from 'tap'
import { openShedding } from '../../../src/app/overload.ts'
import { completeConfig } from '../../../src/ops/config/config.ts'
import { createReadableLog } from '../../helpers/log.ts'

function open (options: Parameters<typeof completeConfig>[0], served = 0) {
  const state = { config: completeConfig(options), log: createReadableLog().logger }
  return openShedding(state, { memory: { containerBytes: 1 } }, () => served)
}

t.test('overload: off takes the limits of the delay and of the memory away', async (t) => {
  const full = open({}, 20)
  full.mustRefuse()
  t.ok(full.mustRefuse())
  t.strictSame(full.refused, { loop_delay: 0, memory: 2, requests: 0 })
  const unmeasured = open({ overload: 'off' }, 20)
  t.notOk(unmeasured.mustRefuse())
  t.notOk(unmeasured.mustRefuse())
})

t.test('divides the limit of requests among workers, rounded up', async (t) => {
  const options = { maxRequests: 10, overload: 'off', constants: { workerCount: 4 } } as const
  t.equal(open(options).limit, 3)
  t.notOk(open(options, 2).mustRefuse())
  const full = open(options, 3)
  t.ok(full.mustRefuse())
  t.strictSame(full.refused, { loop_delay: 0, memory: 0, requests: 1 })
})
