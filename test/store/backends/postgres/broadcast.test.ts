import t, { type Test } from 'tap'
import { openPostgresBroadcast } from '../../../../src/store/backends/postgres/broadcast.ts'
import type { Statement } from '../../../../src/store/backends/postgres/statement.ts'
import { toNames } from '../../../../src/store/backends/postgres/schema.ts'
import { createSweep } from '../../../../src/store/backends/postgres/sweep.ts'
import { toChannelName } from '../../../../src/store/backends/postgres/wakeups.ts'
import type { Broadcast, ReplicaMessage } from '../../../../src/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../../../src/store/changes/change-event.ts'
import { checkBroadcast } from '../../../contracts/broadcast-contract.ts'
import { until, within } from '../../../helpers/deadline.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

type OnError = (error: unknown) => void

async function connect (t: Test, url: string, onError: OnError = () => {}): Promise<Broadcast> {
  return (await connectBreakable(t, url, onError)).broadcast
}

/** Also returns the connections for statements, and a way to make the next sending fail. */
async function connectBreakable (t: Test, url: string, onError: OnError = () => {}) {
  const { target, pool, names, restrictions } = await openPool(t, url)
  let isBroken = false
  const runner = {
    async run (statement: Statement, values?: unknown[]) {
      if (isBroken && statement.text.includes('INSERT INTO')) throw new Error('the test breaks it')
      return await pool.run(statement, values)
    }
  }
  const broadcast = await openPostgresBroadcast({ target, runner, names, onError })
  t.teardown(async () => await broadcast.close())
  return { broadcast, pool, names, restrictions, setBroken (broken: boolean) { isBroken = broken } }
}

function hearEvents (broadcast: Broadcast): ChangeEvent[] {
  const heard: ChangeEvent[] = []
  broadcast.subscribe((event) => { heard.push(event) })
  return heard
}

function hearMessages (broadcast: Broadcast) {
  const heard: ReplicaMessage[] = []
  let missed = 0
  broadcast.listen((message) => { heard.push(message) }, () => { missed++ })
  return { heard, missed: () => missed }
}

const isMissed = ({ type }: ChangeEvent) => type === 'events-missed'
const isUpdate = ({ type }: ChangeEvent) => type === 'resource-updated'
const updated = (index: number): ChangeEvent => ({ type: 'resource-updated', uri: `a://${index}` })
const numbered = (number: number): ReplicaMessage => ({ type: 'test-numbered', number })

/** Writes texts as another release would. */
async function publishTexts (server: PostgresServer, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await server.sql(`
      WITH numbered AS (UPDATE trivet.channel SET last_id = last_id + 1 RETURNING last_id)
      INSERT INTO trivet.messages SELECT last_id, 'x', $text$${text}$text$, 9e15 FROM numbered`)
  }
}

const UNREADABLE = { name: 'TypeError', message: /^a message on trivet\.messages (?!.*canary)/ }
const LISTENERS = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)

  checkBroadcast(t, async () => await connect(t, server.url))

  t.test('the time is exact for a role that gets few digits', async (t) => {
    await server.sql('CREATE ROLE rough LOGIN SUPERUSER; ALTER ROLE rough SET extra_float_digits = -15')
    const broadcast = await connect(t, server.url.replace('//postgres@', '//rough@'))
    const [before, time, after] = [Date.now(), await broadcast.time(), Date.now()]
    t.ok(time >= before - 1 && time <= after + 1, `${before} ${time} ${after}`)
  })

  t.test('each event reaches every replica once, in order', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    const events = Array.from({ length: 100 }, (_, index) => updated(index))
    for (const event of events) await here.publish(event)
    await there.publish({ type: 'tools-changed' })
    await until(() => heardHere.length > 100 && heardThere.length > 100, 'all events')
    t.strictSame(heardHere, [...events, { type: 'tools-changed' }])
    t.strictSame(heardThere.filter(isUpdate), events)
    t.equal(heardThere.length, 101)
  })

  t.test('three replicas that send at once lose and repeat nothing', async (t) => {
    const replicas = await Promise.all([1, 2, 3].map(async () => await connect(t, server.url)))
    const heard = replicas.map((replica) => hearMessages(replica).heard)
    await Promise.all(replicas.flatMap((replica, index) => Array.from(
      { length: 200 }, async (_, number) => await replica.send({ type: `of-${index}`, number })
    )))
    await until(() => heard.every(({ length }) => length >= 600), 'all messages')
    for (const messages of heard) {
      for (const index of [0, 1, 2]) {
        const numbers = messages.filter(({ type }) => type === `of-${index}`).map(({ number }) => number)
        t.strictSame(numbers, Array.from({ length: 200 }, (_, number) => number))
      }
    }
  })

  t.test('a message wakes the others at once', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const { heard } = hearMessages(there)
    const begunAt = performance.now()
    await here.send(numbered(1))
    await until(() => heard.length > 0, 'the message', 150)
    t.ok(performance.now() - begunAt < 150)
  })

  t.test('each type of event arrives elsewhere as it was published', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const heard = hearEvents(there)
    const events: ChangeEvent[] = [
      { type: 'tools-changed' }, { type: 'prompts-changed', seenBy: [['a', 'b'], ['c']] },
      { type: 'resources-outdated' }, { type: 'resources-outdated', templates: ['a://{id}'] }, updated(1),
      { type: 'resource-updated', uri: 'a://2', owner: 'o', seenBy: [['a']] },
      { type: 'task-changed', entry: 'o/n', isOver: true }, { type: 'resources-changed' }
    ]
    for (const event of events) await here.publish(event)
    await until(() => heard.length === events.length, 'all events')
    t.strictSame(heard, events)
  })

  t.test('after a crash listeners get events-missed, then events', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    t.equal(here.isConnected, true)
    await own.kill()
    await until(() => !here.isConnected && !there.isConnected, 'both to notice the outage')
    await within(here.publish({ type: 'prompts-changed' }), 'publishing without PostgreSQL')
    t.strictSame(heardHere, [{ type: 'prompts-changed' }], 'its own replica is told all the same')
    await own.restart()
    await until(() => heardHere.some(isMissed) && heardThere.some(isMissed), 'both to hear of it', 10_000)
    await until(() => here.isConnected && there.isConnected, 'both to be connected')
    await here.publish(updated(1))
    await until(() => heardThere.some(isUpdate), 'an event after the outage')
  })

  t.test('a restart in order loses no message, and nobody is told', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const { heard, missed } = hearMessages(there)
    await here.send(numbered(1))
    await own.stop()
    await until(() => !here.isConnected && !there.isConnected, 'both to notice the outage')
    await own.restart()
    await until(() => here.isConnected && there.isConnected, 'both to be connected', 10_000)
    await here.send(numbered(2))
    await until(() => heard.length === 2, 'both messages')
    t.equal(missed(), 0)
  })

  t.test('without a server sending rejects, and later listeners are told', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    await own.stop()
    await t.rejects(within(here.send(numbered(1)), 'an answer without PostgreSQL', 2500))
    t.strictSame(hears.heard, [numbered(1)], 'its own replica has it all the same')
    await own.restart()
    await until(() => hearsThere.missed() > 0, 'the other to be told', 10_000)
    await here.send(numbered(2))
    await until(() => hearsThere.heard.length > 0, 'a message after the outage')
    t.strictSame(hearsThere.heard, [numbered(2)])
  })

  t.test('publishing to a hanging server reports the error, and resolves', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const errors: unknown[] = []
    const here = await connect(t, own.url, (error) => { errors.push(error) })
    const there = await connect(t, own.url)
    const heard = hearEvents(there)
    own.freeze()
    await t.resolves(within(here.publish({ type: 'prompts-changed' }), 'publishing', 2500))
    t.match(errors[0], { message: /did not answer|had no connection/ })
    own.thaw()
    await until(() => heard.length > 0, 'the other replica to hear of it', 10_000)
  })

  t.test('a lost connection that listens is replaced, and nothing is missed', async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const { heard, missed } = hearMessages(there)
    await own.sql(`SELECT pg_terminate_backend(pid) ${LISTENERS}`)
    await here.send(numbered(1))
    await until(() => heard.length === 1, 'the message')
    await until(async () => (await own.sql(`SELECT ${LISTENERS}`)).length === 2, 'both to listen again')
    t.equal(missed(), 0)
  })

  t.test('what could not be sent: the others are told of its kind', async (t) => {
    const { broadcast: here, setBroken } = await connectBreakable(t, server.url)
    const there = await connect(t, server.url)
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    const events = hearEvents(there)
    setBroken(true)
    await t.rejects(here.send(numbered(1)))
    setBroken(false)
    await until(() => hearsThere.missed() === 1, 'the other to be told')
    t.strictSame(events, [], 'no event was missed')
    setBroken(true)
    await here.publish(updated(1))
    setBroken(false)
    await until(() => events.length > 0, 'the other to be told')
    t.strictSame(events, [{ type: 'events-missed' }])
    t.equal(hears.missed(), 0, 'the sender missed nothing')
    t.strictSame(hearsThere.heard, [])
  })

  t.test('a replica that reads behind what was removed is told', async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connectBreakable(t, own.url)]
    const { heard, missed } = hearMessages(there.broadcast)
    await own.sql('UPDATE trivet.channel SET last_id = last_id + 5, removed_id = last_id + 4')
    await here.send(numbered(1))
    await until(() => heard.length === 1, 'the message that was not removed')
    t.equal(missed(), 1)
  })

  t.test('old messages are removed, and who has read them misses nothing', async (t) => {
    const own = await startPostgresServer(t)
    const { broadcast: here, pool, names } = await connectBreakable(t, own.url)
    const there = await connect(t, own.url)
    const { heard, missed } = hearMessages(there)
    for (let number = 0; number < 20; number++) await here.send(numbered(number))
    await until(() => heard.length === 20, 'all messages')
    await own.sql('UPDATE trivet.messages SET sent_at = sent_at - 120000')
    const sweep = createSweep(pool, names, { onError: t.error })
    t.teardown(async () => await sweep.close())
    await sweep.sweep()
    t.strictSame(await own.sql('SELECT count(*)::int FROM trivet.messages'), [[0]])
    t.strictSame(await own.sql('SELECT removed_id = last_id FROM trivet.channel'), [[true]])
    await here.send(numbered(20))
    await until(() => heard.length === 21, 'one more')
    t.equal(missed(), 0)
  })

  t.test('a text that cannot be read is reported without its content', async (t) => {
    const own = await startPostgresServer(t)
    const errors: unknown[] = []
    const broadcast = await connect(t, own.url, (error) => { errors.push(error) })
    const heard = hearEvents(broadcast)
    const odd = ['', 'canary', 'null', '["canary"]', '{"canary":{}}', '{"event":"canary"}', '{"missed":[1]}']
    await publishTexts(own, [...odd, '{"event":{"type":"tools-changed"}}'])
    await own.sql(`SELECT pg_notify('${toChannelName(toNames('trivet'))}', '')`)
    await until(() => heard.length > 0, 'the event after them', 10_000)
    t.strictSame(heard, [{ type: 'tools-changed' }])
    t.equal(errors.length, odd.length)
    for (const error of errors) t.match(error, UNREADABLE)
  })

  t.test('a listener that throws affects no listener and no publisher elsewhere', async (t) => {
    const errors: unknown[] = []
    const here = await connect(t, server.url)
    const there = await connect(t, server.url, (error) => { errors.push(error) })
    const fail = () => { throw new Error('a listener of the test fails') }
    here.subscribe(fail)
    there.subscribe(fail)
    const heard = hearEvents(there)
    await t.rejects(here.publish(updated(1)))
    await until(() => heard.length > 0, 'the event')
    t.strictSame(heard, [updated(1)])
    t.match(errors, [{ name: 'AggregateError' }])
  })

  t.test('prefixes are apart', async (t) => {
    const here = await connect(t, server.url)
    const { target, pool, names } = await openPool(t, server.url, 'other')
    const other = await openPostgresBroadcast({ target, runner: pool, names, onError: t.error })
    t.teardown(async () => await other.close())
    const { heard } = hearMessages(other)
    await here.send(numbered(1))
    await other.send(numbered(2))
    await here.send(numbered(3))
    await other.send(numbered(4))
    await until(() => heard.length === 2, 'its own messages')
    t.strictSame(heard, [numbered(2), numbered(4)])
  })

  t.test('the time is that of PostgreSQL', async (t) => {
    const broadcast = await connect(t, server.url)
    t.ok(Math.abs(await broadcast.time() - Date.now()) < 5000)
  })
}
