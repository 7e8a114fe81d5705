// Calls of tools with tasks that are repeated: each meets its first run.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../src/app/app.ts'
import { listen } from '../helpers/app.ts'
import { makeFolder } from '../helpers/folder.ts'
import type { Message } from '../helpers/request.ts'
import { openSession } from '../helpers/session.ts'
import { named, serveTools, TaskClient } from '../features/tasks/task-client.ts'
import { callOf, PlainClient } from './plain-client.ts'
import { notes, TOOLS } from './repeated-tools.ts'

t.beforeEach(() => { for (const key of Object.keys(notes)) delete notes[key] })

class KeyClient extends PlainClient {
  async keyed (key: string, name: string, args: object = {}, id: string | number = 1): Promise<Message> {
    return await this.ask('tools/call', { name, arguments: args }, { 'idempotency-key': key }, id)
  }
}

const serve = async (t: Test, options: AppOptions = {}) => (
  await serveTools(t, TOOLS, { ...named, ...options })
)

t.test('a call with the same key gets the first result, while it runs and after its end', async (t) => {
  const client = new KeyClient(await serve(t), { user: 'ada' })
  const args = { ms: 200 }
  const calls = [1, 2, 3].map(async (id) => await client.keyed('k', 'orders', args, id))
  const results = await Promise.all(calls)
  for (const result of results) t.match(result, { content: [{ text: 'order 1' }] })
  t.match(await client.keyed('k', 'orders', args), { content: [{ text: 'order 1' }] }, 'after its end')
  t.match(await client.keyed('other', 'orders', args), { content: [{ text: 'order 2' }] })
  t.strictSame(notes.orders, [1, 1])
  t.match(await client.keyed('r', 'refuses'), { isError: true, content: [{ text: 'No.' }] })
  t.match(await client.keyed('r', 'refuses'), { isError: true, content: [{ text: 'No.' }] })
  t.equal(notes.orders?.length, 3)
})

t.test('a key belongs to its caller, its tool and its arguments', async (t) => {
  const app = await serve(t)
  const ada = new KeyClient(app, { user: 'ada' })
  t.match(await ada.keyed('k', 'orders'), { content: [{ text: 'order 1' }] })
  t.match(
    await ada.keyed('k', 'orders', { ms: 1 }),
    { isError: true, content: [{ text: /belongs to a call with other arguments/ }] }
  )
  t.match(await ada.keyed('k', 'refuses'), { isError: true, content: [{ text: 'No.' }] })
  t.match(await new KeyClient(app, { user: 'bob' }).keyed('k', 'orders'), { content: [{ text: 'order 3' }] })
  const twice = /Idempotency-Key must come once/
  t.match(await ada.keyed('a,b', 'orders'), { isError: true, content: [{ text: twice }] })
})

t.test('strangers behind different addresses have keys of their own', async (t) => {
  const app = await serveTools(t, TOOLS, { trustedProxies: ['127.0.0.1'] })
  const from = async (address: string) => await new KeyClient(app).ask(
    'tools/call', { name: 'orders', arguments: {} }, { 'idempotency-key': 'k', 'x-forwarded-for': address }
  )
  t.match(await from('192.0.2.1'), { content: [{ text: 'order 1' }] })
  t.match(await from('198.51.100.1'), { content: [{ text: 'order 2' }] })
  t.match(await from('192.0.2.1'), { content: [{ text: 'order 1' }] })
})

t.test('a key is known after the secret was replaced', async (t) => {
  const stateUrl = `file:${await makeFolder(t)}`
  const [old, next] = ['o'.repeat(32), 'n'.repeat(32)]
  for (const secrets of [[old], [next, old]]) {
    const app = await serve(t, { stateUrl, secrets })
    const result = await new KeyClient(app, { user: 'ada' }).keyed('k', 'orders')
    t.match(result, { content: [{ text: 'order 1' }] })
    await app.close()
  }
  t.strictSame(notes.orders, [1])
})

t.test('a client with tasks gets the task of the first call', async (t) => {
  const client = new TaskClient(await serve(t, { constants: { taskGraceMs: 0 } }), { user: 'ada' })
  const params = { name: 'orders', arguments: { ms: 300 } }
  const headers = { 'idempotency-key': 'k' }
  const first = await client.ask('tools/call', params, headers)
  t.match(first, { resultType: 'task' })
  t.match(await client.ask('tools/call', params, headers), { resultType: 'task', taskId: first.taskId })
  t.match(await client.until(first.taskId, 'completed'), { result: { content: [{ text: 'order 1' }] } })
  t.match(await client.ask('tools/call', params, headers), { content: [{ text: 'order 1' }] })
  t.strictSame(notes.orders, [1])
})

t.test('a request of a session that comes twice meets its first run', async (t) => {
  const session = await openSession(t, await listen(await serveTools(t, TOOLS)), { capabilities: {} })
  const [one, two] = await Promise.all([
    session.call('orders', { ms: 200 }, { id: 'same' }), session.call('orders', { ms: 200 }, { id: 'same' })
  ])
  t.strictSame([one.result.content[0].text, two.result.content[0].text], ['order 1', 'order 1'])
  const { result } = await session.call('orders', { ms: 200 }, { id: 'another' })
  t.match(result, { content: [{ text: 'order 2' }] })
  t.strictSame(notes.orders, [1, 1])
})

t.test('a repetition of a call that goes on is told how to continue it', async (t) => {
  const client = new KeyClient(await serve(t, { taskWaitMs: 100 }), { user: 'ada' })
  const first = await client.keyed('k', 'orders', { ms: 500 })
  t.equal(callOf(await client.keyed('k', 'orders', { ms: 500 })), callOf(first))
  await pause(2000)
  t.match(await client.continue(callOf(first)), { content: [{ text: 'order 1' }] })
})
