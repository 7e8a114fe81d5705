// The clock of a catalog in a test: nothing waits.

import t from 'tap'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { counterModule } from '../../helpers/counter-module.ts'
import { open, toModule } from './open.ts'

const MINUTE = 60_000

t.test('a handle expires, and a use extends its life', async (t) => {
  const lists = counterModule('list', 'lst', 'idleTtlMs: 60_000, maxAgeMs: 100_000')
  const catalog = await open(t, { 'tools/lists.ts': lists })
  const { text: id } = await catalog.call('create_list')
  const read = async () => (await catalog.call('read_list', { id })).isError
  for (const passed of [59_000, 40_000]) {
    catalog.advance(passed)
    t.equal(await read(), false)
  }
  catalog.advance(1001)
  t.equal(await read(), true, 'its greatest age is reached')
  const { text: other } = await catalog.call('create_list')
  catalog.advance(MINUTE)
  t.equal((await catalog.call('read_list', { id: other })).isError, true)
})

t.test('a rate allows calls again', async (t) => {
  const catalog = await open(t, {
    'tools/own.ts': toolModule('own', "limits: { calls: '1/1m' }"), 'tools/any.ts': toolModule('any')
  }, { maxCallsPerCaller: '3/1h' })
  const calls = async (name: string) => (await catalog.call(name)).isError
  t.strictSame([await calls('own'), await calls('own')], [false, true])
  catalog.advance(2 * MINUTE)
  t.equal(await calls('own'), false)
  t.strictSame([await calls('any'), await calls('any')], [false, true])
  catalog.advance(2 * 60 * MINUTE)
  t.equal(await calls('any'), false)
})

t.test('a client may answer too late', async (t) => {
  const catalog = await open(t, {
    'tools/ask.ts': toModule(`export default defineTool({ name: 'ask', async run (_, ctx) {
      const token = await ctx.once('token', () => 't')
      const { ok } = await ctx.ask({ ok: elicit.url({ message: 'Pay', url: 'https://pay.example' }) })
      return token + ' ' + ok.action
    } })`)
  }, { requestStateTtlMs: MINUTE })
  const answerAfter = async (ms: number) => await catalog.call('ask', {}, {
    answer () {
      catalog.advance(ms)
      return { action: 'accept' }
    }
  })
  t.equal((await answerAfter(MINUTE - 5000)).text, 't accept')
  await t.rejects(answerAfter(MINUTE + 1), { code: -32602, message: /requestState/ })
})

t.test('a first answer is forgotten', async (t) => {
  const catalog = await open(t, {
    'tools/count.ts': `let calls = 0\n${toolModule('count', 'dedupe: true, annotations: { idempotentHint: true }', '() => String(++calls)')}`
  })
  const call = async (idempotencyKey?: string) => (
    await catalog.call('count', {}, idempotencyKey === undefined ? {} : { idempotencyKey })
  ).text
  const first = [await call('a'), await call('a'), await call('b'), await call(), await call()]
  t.strictSame(first, ['1', '1', '2', '3', '4'])
  catalog.advance(10 * MINUTE)
  t.equal(await call('a'), '5')
})

t.test('the clock only goes forward', async (t) => {
  const catalog = await open(t, {})
  for (const ms of [-1, NaN, Infinity]) t.throws(() => catalog.advance(ms), { name: 'RangeError' })
  catalog.advance(0)
})
