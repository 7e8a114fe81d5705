// The log of calls' streams: whose events make room for whose.

import t from 'tap'
import { ANONYMOUS } from '../../../../src/platform/access/principal.ts'
import {
  createCallStreams, mayRead, readEventId
} from '../../../../src/edges/legacy/sessions/call-streams.ts'
import { SessionMessages } from '../../../../src/edges/legacy/sessions/session-messages.ts'
import type { Session } from '../../../../src/edges/legacy/sessions/session.ts'
import { createLocalEventLog } from '../../../../src/platform/store/changes/event-log.ts'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'
import { SESSION } from '../../../helpers/negotiated-session.ts'

const principalOf = (...scopes: string[]) => ({ subject: 'ada', scopes: new Set(scopes) })

t.test('a stream is for those who have all scopes of its requests, however long it is', async (t) => {
  const log = createLocalEventLog({ maxEvents: 1000, ttlMs: 60_000 })
  t.teardown(async () => await log.close())
  const onError = (error: unknown) => { throw error }
  const streams = createCallStreams(log, new SessionMessages(createLocalBroadcast(), onError), onError)
  t.teardown(() => streams.close())
  const call = streams.create(SESSION, [1, 'two'], principalOf('a', 'b'))
  const { stream = '' } = readEventId(call.openingId, SESSION) ?? {}
  for (let index = 0; index < 2600; index++) {
    call.write('{"method":"notifications/progress"}')
    if (index % 500 !== 0) continue
    const logged = await log.read(stream, 0) ?? []
    t.ok(mayRead(principalOf('a', 'b', 'c'), logged))
    t.notOk(mayRead(principalOf('a', 'c'), logged), `after ${index} messages`)
  }
  const [first] = await log.read(stream, 0) ?? []
  t.ok((first?.position ?? 0) > 1500, 'the first events are gone')
  const earlier = [{ position: 1, text: '[1,"two"]' }, { position: 2, text: '{}' }]
  t.ok(mayRead(ANONYMOUS, earlier), 'an earlier release has logged no scopes')
})

t.test('a chatty address pushes out its own events, and nobody else\'s', async (t) => {
  const log = createLocalEventLog({ maxEvents: 100, ttlMs: 60_000, maxBytes: 100_000 })
  t.teardown(async () => await log.close())
  const onError = (error: unknown) => { throw error }
  const streams = createCallStreams(log, new SessionMessages(createLocalBroadcast(), onError), onError)
  t.teardown(() => streams.close())
  const read = async (session: Session, id: string) => await log.read(
    readEventId(id, session)?.stream ?? '', 0
  )

  const other = { ...SESSION, id: 'other', owner: 'anonymous', network: '203.0.113.8' }
  const kept = streams.create(other, [1], ANONYMOUS).write('{"a":1}')
  const chatty = { ...SESSION, id: 'chatty', owner: 'anonymous', network: '203.0.113.7' }
  const ids = Array.from(
    { length: 100 }, (_, id) => streams.create(chatty, [id], ANONYMOUS).write('x'.repeat(5000))
  )
  t.equal((await read(other, kept))?.length, 2)
  const left = await Promise.all(ids.map(async (id) => await read(chatty, id)))
  t.equal(left.filter((events) => events !== undefined).length, 1, 'a tenth of the limit has room for one')
  t.ok(left.at(-1))
})
