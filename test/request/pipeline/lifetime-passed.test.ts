// The time after which a request may become a task.

import t from 'tap'
import { Lifetime } from '../../../src/request/pipeline/lifetime.ts'
import { until } from '../../helpers/deadline.ts'

t.test('a listener hears that a time has passed, once the clock runs', async (t) => {
  const lifetime = new Lifetime()
  let heard = 0
  lifetime.onPassed(5, () => { heard++ })
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(heard, 0, 'before its clock has begun')
  lifetime.startClock()
  await until(() => heard === 1, 'the listener to be called')
})

t.test('a request that is stopped or over has no such time', async (t) => {
  const lifetimes = [new Lifetime(), new Lifetime()]
  let heard = 0
  for (const lifetime of lifetimes) {
    lifetime.startClock()
    lifetime.onPassed(5, () => { heard++ })
  }
  lifetimes[0]?.stop(new Error('enough'))
  lifetimes[1]?.end()
  lifetimes[1]?.onPassed(1, () => { heard++ })
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(heard, 0)
})
