// A real HAProxy for one test, configured by docker-compose.yml.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeFolder } from '../helpers/folder.ts'
import { readComposition, startProxy, swapTexts, type Swap } from './proxy.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from './programs.ts'

/** The path on Debian. The PATH of many users does not include it. */
const DEBIAN_PATH = '/usr/sbin/haproxy'
const PROGRAM = existsSync(DEBIAN_PATH) ? DEBIAN_PATH : 'haproxy'

/** Whether HAProxy can be started here. See `hasPrograms`. */
export function hasHaproxy (t: Test): boolean {
  return hasPrograms(t, [PROGRAM], 'haproxy')
}

/**
 * Starts HAProxy. The replicas trivet-1, trivet-2 and so on are at these ports of the loopback interface.
 * Resolves to the origin of HAProxy, which is stopped when the test ends.
 *
 * @param swaps further changes of the configuration, such as shorter times.
 */
export async function startHaproxy (
  t: Test, replicaPorts: readonly number[], swaps: readonly Swap[] = []
): Promise<string> {
  const { configs } = await readComposition()
  const port = await findFreePort()
  const file = join(await makeFolder(t), 'haproxy.cfg')
  await writeFile(file, swapTexts(configs.haproxy.content, [
    // Otherwise HAProxy needs more file descriptors than a user may have.
    ['maxconn 30000', 'maxconn 1000'],
    ['bind :8080', `bind 127.0.0.1:${port}`],
    ...replicaPorts.map((replicaPort, index) => [
      `trivet-${index + 1}:3000`, `127.0.0.1:${replicaPort}`
    ] as const),
    ...swaps
  ]))
  return await startProxy(t, { program: PROGRAM, args: ['-db', '-f', file], port })
}
