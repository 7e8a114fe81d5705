// Starts a Redis for the benchmark with the settings of docker-compose.yml. This Redis writes every change to
// a file before it acknowledges the change.

import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { findFreePort } from '../servers/free-port.mjs'
import { startProcess } from '../servers/processes.mjs'
import { workspacePath } from '../workspace.mjs'

const PROGRAM = 'redis-server'

export const NO_REDIS = `there is no ${PROGRAM} here`

/**
 * @returns {Promise<{ url: string, pid: number, stop: () => Promise<void> } | undefined>} `undefined` if
 * Redis is not installed
 */
export async function startRedis () {
  if (spawnSync(PROGRAM, ['--version']).error !== undefined) return undefined
  const folder = workspacePath('redis')
  await mkdir(folder)
  const port = String(await findFreePort())
  const files = ['--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always']
  const args = ['--port', port, '--bind', '127.0.0.1', ...files, '--maxmemory-policy', 'noeviction']
  const { pid, stop } = await startProcess(PROGRAM, args, { until: /Ready to accept connections/ })
  return { url: `redis://127.0.0.1:${port}`, pid, stop }
}
