// Parts close in the reverse order, after a start that fails or is interrupted as after a shutdown.

import t from 'tap'
import { Lifecycle } from '../../src/base/lifecycle.ts'

function create (interruption?: AbortSignal) {
  const lifecycle = new Lifecycle(interruption)
  const events: string[] = []
  const part = (name: string) => ({
    async close () {
      await new Promise(setImmediate)
      events.push(name)
    }
  })
  return { lifecycle, events, part }
}

t.test('closes the parts one by one, the last one first, and once', async (t) => {
  const { lifecycle, events, part } = create()
  lifecycle.add(part('a'))
  await lifecycle.open(Promise.resolve(part('b')))
  await lifecycle.open(Promise.resolve(undefined))
  lifecycle.add({})
  lifecycle.add(part('c'))
  await Promise.all([lifecycle.close(), lifecycle.close()])
  t.strictSame(events, ['c', 'b', 'a'])
})

t.test('a start that fails closes what is open, and keeps its error', async (t) => {
  const { lifecycle, events, part } = create()
  const error = new Error('no')
  const broken = { close: async () => await Promise.reject(new Error('broken')) }
  await t.rejects(lifecycle.start(async () => {
    lifecycle.add(part('a'))
    lifecycle.add(broken)
    await lifecycle.open(Promise.reject(error))
  }), error)
  t.strictSame(events, ['a'])
  await t.rejects(lifecycle.close(), { message: 'broken' }, 'a failed close does not keep the others open')
})

t.test('an interruption rejects at once, and closes a part as soon as it has opened', async (t) => {
  const interruption = new AbortController()
  const { lifecycle, events, part } = create(interruption.signal)
  let open = (_: ReturnType<typeof part>) => {}
  const opening = new Promise<ReturnType<typeof part>>((resolve) => { open = resolve })
  const starting = lifecycle.start(async () => {
    lifecycle.add(part('a'))
    await lifecycle.open(opening)
  })
  interruption.abort(new Error('stop'))
  await new Promise(setImmediate)
  t.strictSame(events, [])
  open(part('b'))
  await t.rejects(starting, { message: 'stop' })
  t.strictSame(events, ['b', 'a'])
})

t.test('a part that comes after the end is closed too', async (t) => {
  const { lifecycle, events, part } = create()
  await lifecycle.close()
  lifecycle.add(part('a'))
  await t.rejects(lifecycle.open(Promise.resolve(part('b'))), { message: 'The service is shutting down' })
  await lifecycle.close()
  t.strictSame(events, ['a', 'b'])
})
