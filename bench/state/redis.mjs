// A Redis of the bench's own, set up as docker-compose.yml has it: what is written is in a file before it is acknowledged.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { startProcess } from '../servers/server-process.mjs'
import { workspacePath } from '../workspace.mjs'

const PROGRAM = 'redis-server'

export const NO_REDIS = `there is no ${PROGRAM} here`

/** @returns {Promise<{ url: string, pid: number, stop: () => Promise<void> } | undefined>} `undefined` where it is not installed */
export async function startRedis () {
  if (spawnSync(PROGRAM, ['--version']).error !== undefined) return undefined
  const folder = workspacePath('redis')
  await mkdir(folder)
  const port = String(await findFreePort())
  const args = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
  const { pid, stop } = await startProcess(PROGRAM, args, { until: /Ready to accept connections/ })
  return { url: `redis://127.0.0.1:${port}`, pid, stop }
}

async function findFreePort () {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}
