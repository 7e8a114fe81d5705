import type { Test } from 'tap'
import { openBackend } from '../../src/platform/store/backends/url-schemes.ts'
import type { OpenedBackend } from '../../src/platform/store/backends/backend.ts'
import { until, within } from '../helpers/deadline.ts'
import { createReadableLog } from '../helpers/log.ts'
import { textOf, toValue } from '../helpers/state-value.ts'

export async function openStore (t: Test, url: string): Promise<OpenedBackend> {
  const backend = await openBackend(url, { log: createReadableLog().logger, prefix: 'trivet' })
  t.teardown(async () => await backend.close())
  return backend
}

/** Checks that the store, the broadcast and the log work, and stop when the backend is closed. */
export async function checkParts (t: Test, url: string): Promise<void> {
  const { store, broadcast, eventLog, close } = await openStore(t, url)
  const key = { owner: 'o', name: 'n' }
  await store.create(key, toValue('x'), { idleMs: 60_000 }, 10)
  t.equal(textOf(await store.read(key)), 'x')
  const heard: string[] = []
  broadcast.subscribe(({ type }) => { heard.push(type) })
  broadcast.listen(({ type }) => { heard.push(type) })
  await broadcast.publish({ type: 'tools-changed' })
  await broadcast.send({ type: 'test' })
  await until(() => heard.length === 2, 'both')
  await eventLog.append('s.a', { position: 1, text: 'x' })
  t.strictSame(await eventLog.read('s.a', 0), [{ position: 1, text: 'x' }])

  await within(Promise.all([close(), close()]), 'its end')
  await within(close(), 'its end once more')
  await t.rejects(store.check(), { name: 'StoreUnavailable' })
  await t.resolves(broadcast.publish({ type: 'tools-changed' }))
  await t.resolves(broadcast.send({ type: 'test' }))
  t.strictSame(heard, ['tools-changed', 'test'])
}
