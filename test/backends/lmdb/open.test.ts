// The parts beside the store, as the LMDB backend opens them.

import t, { type Test } from 'tap'
import type { Backend } from '../../../src/backends/backend.ts'
import { openLmdbBackend } from '../../../src/backends/lmdb/open.ts'
import { EVENT_LOG_LIMITS } from '../../../src/events/event-log.ts'
import { checkEventBus } from '../../contracts/event-bus-contract.ts'
import { checkEventLog } from '../../contracts/event-log-contract.ts'
import { checkRelay } from '../../contracts/relay-contract.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'

async function open (t: Test, eventLogLimits = EVENT_LOG_LIMITS): Promise<Backend> {
  const { logger } = createReadableLog()
  const backend = await openLmdbBackend(`file:${await makeFolder(t)}`, { log: logger, eventLogLimits })
  t.teardown(async () => await backend.close())
  return backend
}

t.test('the bus', async (t) => checkEventBus(t, async () => (await open(t)).bus))
t.test('the relay', async (t) => checkRelay(t, async () => (await open(t)).relay))
t.test('the event log', async (t) => checkEventLog(t, async (limits) => (await open(t, limits)).eventLog))
