// A service with its state in a folder is killed and started again, and its disk is full for a while, while
// clients begin tasks, update handles and repeat calls. What was acknowledged is there, once. CHAOS_SECONDS
// is the duration. `npm run chaos:tasks` prints the figures of a minute.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { startService, type Service } from '../helpers/service.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { limitFiles } from '../servers/small-disk.ts'
import { checkLoad, prepareLoad } from './chaos-tasks-load.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 2)
const LEASE_MS = 1000
/** Between a start and the next fault. Longer than a lease and a step: a task fails after five losses. */
const CALM_MS = 1200
const FULL_MS = 1000
const NOTICE_MS = 10_000

t.setTimeout(SECONDS * 1000 + 150_000)

t.test('nothing acknowledged is lost or doubled when the process is killed and the disk is full', {
  timeout: SECONDS * 1000 + 120_000
}, async (t) => {
  const setup = await prepareLoad(t, LEASE_MS)
  const folder = await makeFolder(t)
  const environment = {
    ...setup.environment, TRIVET_STATE_URL: `file:${folder}`, PORT: String(await findFreePort())
  }
  let service = await startService(t, environment)
  await checkLoad(t, service.url, setup, async () => {
    const end = performance.now() + SECONDS * 1000
    const counts = { kills: 0, full: 0 }
    while (performance.now() < end || counts.full === 0) {
      await pause(CALM_MS)
      if (counts.kills > counts.full) {
        await fillDisk(service, join(folder, 'data.mdb'))
        counts.full++
      } else {
        await service.stop('SIGKILL')
        service = await startService(t, environment)
        counts.kills++
      }
    }
    return `${SECONDS} s: ${counts.kills} kills, ${counts.full} times a full disk`
  })
})

/**
 * Takes away the room for half of the database, so that a write needs more room than there is. The disk is
 * full when the service is not ready.
 */
async function fillDisk ({ child, url }: Service, database: string): Promise<void> {
  const isReady = async () => (await fetch(new URL('/readyz', url))).ok
  await limitFiles(child, Math.floor(statSync(database).size / 2))
  await until(async () => !await isReady(), 'a full disk', NOTICE_MS)
  await pause(FULL_MS)
  await limitFiles(child, 'unlimited')
  await until(isReady, 'room on the disk', NOTICE_MS)
}
