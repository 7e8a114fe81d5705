import t from 'tap'
import { Link, type LinkHandlers } from '../../../src/programs/process/link.ts'

/** Two sides that are connected. Messages pass as JSON, as between processes. */
function connect (handlers: LinkHandlers): Link {
  const near: Link = new Link((message) => far.receive(JSON.parse(JSON.stringify(message))), new Map())
  const far: Link = new Link((message) => near.receive(JSON.parse(JSON.stringify(message))), handlers)
  return near
}

t.test('tells, asks and answers', async (t) => {
  const told: unknown[] = []
  const link = connect(new Map<string, (value: unknown) => unknown>([
    ['note', (value) => told.push(value)],
    ['double', async (value) => Number(value) * 2],
    ['fail', () => { throw new Error('no disk') }]
  ]))
  link.tell('note', { a: 1 })
  link.tell('unknown')
  t.strictSame(told, [{ a: 1 }])
  const answers = [2, 3].map(async (value) => await link.ask('double', { value }))
  t.strictSame(await Promise.all(answers), [4, 6])
  await t.rejects(link.ask('fail'), { message: 'no disk' })
})

t.test('an answer that does not come is an error', async (t) => {
  const link = connect(new Map())
  await t.rejects(link.ask('unknown'), { message: 'no answer' })
  await t.rejects(link.ask('unknown', { limitMs: 1 }), { message: 'no answer' })
})

t.test('messages of others are left alone', async (t) => {
  const link = connect(new Map())
  const unasked = [{ trivet: 'answer' }, { trivet: 'answer', id: 9 }]
  for (const message of [undefined, null, 1, 'a', {}, { trivet: 1 }, ...unasked]) {
    t.doesNotThrow(() => link.receive(message))
  }
})
