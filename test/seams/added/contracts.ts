// What a new backend is done by: every contract suite.

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { jsonBackend } from '../../src/platform/store/backends/json/backend.ts'
import { openJsonStateStore } from '../../src/platform/store/backends/json/state-store.ts'
import type { EventLogLimits } from '../../src/platform/store/changes/event-log.ts'
import { checkBroadcast } from '../contracts/broadcast-contract.ts'
import { checkEventLog } from '../contracts/event-log-contract.ts'
import { checkStateStore } from '../contracts/state-store-contract.ts'
import { makeFolder } from '../helpers/folder.ts'
import { createReadableLog } from '../helpers/log.ts'

async function open (t: Test, eventLogLimits?: EventLogLimits) {
  const { logger: log } = createReadableLog()
  const url = `json:${join(await makeFolder(t), 'state.json')}`
  return await jsonBackend.open(url, { log, prefix: 'trivet', ...(eventLogLimits && { eventLogLimits }) })
}

t.test('the store', async (t) => checkStateStore(t, async (t) => {
  const file = join(await makeFolder(t), 'state.json')
  let time = Date.now()
  const now = () => time
  return {
    store: openJsonStateStore(file, now),
    now,
    advance (ms) { time += ms },
    reopen: async () => openJsonStateStore(file, now)
  }
}))
t.test('the broadcast', async (t) => checkBroadcast(t, async () => (await open(t)).broadcast))
t.test('the event log', async (t) => checkEventLog(t, async (limits) => (await open(t, limits)).eventLog))
