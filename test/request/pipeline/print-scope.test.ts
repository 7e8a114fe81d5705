// The async context tells which request code belongs to, and costs nothing while no such request runs.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createPrintScope } from '../../../src/request/pipeline/print-scope.ts'
import { ObservedRequest } from '../../../src/request/pipeline/request-context.ts'

const observed = (requestId: string, subject: string): ObservedRequest => {
  const caller = { requestId, principal: {}, envelope: { revision: '' } } as never
  return Object.assign(new ObservedRequest(caller), { method: 'tools/call', subject })
}

t.test('knows the request before and after an await, and none outside of it', async (t) => {
  const { run, current } = createPrintScope()
  const seen = async (id: string) => await run(observed(id, 'a'), async () => {
    const before = current()
    await pause(2)
    t.equal(current(), before)
    return current()?.reqId ?? ''
  })
  t.strictSame(await Promise.all([seen('1'), seen('2'), seen('3')]), ['1', '2', '3'])
  t.equal(current(), undefined)
})

/** Later versions of Node keep the context of a promise, at no cost. */
const keepsContexts = Number(process.versions.node.split('.')[0]) >= 24

t.test('ends with the handler, however it ends', { skip: keepsContexts }, async (t) => {
  const { run, current } = createPrintScope()
  const late: Array<Promise<unknown>> = []
  const leave = () => { late.push(pause(2).then(() => current())) }
  const failure = new Error('no')
  run(observed('1', 'a'), () => {
    leave()
    t.match(current(), { reqId: '1', method: 'tools/call', name: 'a' })
    return ''
  })
  t.throws(() => run(observed('2', 'a'), () => {
    leave()
    throw failure
  }), failure)
  await t.rejects(async () => await run(observed('3', 'a'), async () => {
    leave()
    throw failure
  }), failure)
  t.strictSame(await Promise.all(late), Array(3).fill(undefined))
})
