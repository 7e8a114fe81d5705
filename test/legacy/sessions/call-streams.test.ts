// The log of calls' streams: whose events make room for whose.

import t from 'tap'
import { createCallStreams, readEventId } from '../../../src/legacy/sessions/call-streams.ts'
import { SessionMessages } from '../../../src/legacy/sessions/session-messages.ts'
import type { Session } from '../../../src/legacy/sessions/session.ts'
import { createLocalEventLog } from '../../../src/store/changes/event-log.ts'
import { createLocalBroadcast } from '../../../src/store/changes/local-broadcast.ts'
import { SESSION } from '../../helpers/negotiated-session.ts'

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
  const kept = streams.create(other, [1]).write('{"a":1}')
  const chatty = { ...SESSION, id: 'chatty', owner: 'anonymous', network: '203.0.113.7' }
  const ids = Array.from({ length: 100 }, (_, id) => streams.create(chatty, [id]).write('x'.repeat(5000)))
  t.equal((await read(other, kept))?.length, 2)
  const left = await Promise.all(ids.map(async (id) => await read(chatty, id)))
  t.equal(left.filter((events) => events !== undefined).length, 1, 'a tenth of the limit has room for one')
  t.ok(left.at(-1))
})
