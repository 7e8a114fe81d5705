// A real nginx for one test, configured by docker-compose.yml.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until, within } from './deadline.ts'
import { makeFolder } from './folder.ts'
import { findFreePort, hasPrograms } from './redis-server.ts'

/** The path on Debian. The PATH of many users does not include it. */
const DEBIAN_PATH = '/usr/sbin/nginx'
const PROGRAM = existsSync(DEBIAN_PATH) ? DEBIAN_PATH : 'nginx'
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** Whether nginx can be started here. See `hasPrograms`. */
export function hasNginx (t: Test): boolean {
  return hasPrograms(t, [PROGRAM], 'nginx')
}

/**
 * Starts nginx with the configuration in a compose file. The replicas trivet-1, trivet-2 and so on are at
 * these ports of the loopback interface. Resolves to the origin of nginx, which is stopped when the test
 * ends.
 */
export async function startNginx (
  t: Test, configuration: string, replicaPorts: readonly number[]
): Promise<string> {
  const folder = await makeFolder(t)
  const port = await findFreePort()
  const file = join(folder, 'nginx.conf')
  await writeFile(file, toLocal(configuration, port, replicaPorts, folder))
  // Workers of another user could not read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const child = spawn(
    PROGRAM,
    [
      '-p', folder, '-c', file, '-g',
      `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr; ${user}`
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] }
  )
  const exited = once(child, 'exit')
  t.teardown(async () => {
    // Not SIGKILL: the workers would continue without their master.
    child.kill('SIGTERM')
    await within(exited, 'the end of nginx')
  })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { printed += text })
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended:\n${printed}`)
    return await isListening(port)
  }, 'nginx', 10_000)
  return `http://127.0.0.1:${port}`
}

/** Replaces the addresses by those of this machine, and the paths of written files by paths in the folder. */
function toLocal (
  configuration: string, port: number, replicaPorts: readonly number[], folder: string
): string {
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ')
  const swaps: Array<readonly [string, string]> = [
    ['http {', `http { ${paths}`],
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    ...replicaPorts.map(
      (replicaPort, index) => [
        `server trivet-${index + 1}:3000 `, `server 127.0.0.1:${replicaPort} `
      ] as const
    )
  ]
  // A compose file doubles each $.
  let text = configuration.replaceAll('$$', () => '$')
  for (const [from, to] of swaps) {
    if (!text.includes(from)) {
      throw new Error(`the configuration of nginx must have "${from}":\n${configuration}`)
    }
    text = text.replaceAll(from, () => to)
  }
  if (/trivet-\d+:3000/.test(text)) {
    throw new Error(
      `the configuration of nginx has more than ${replicaPorts.length} replicas:\n${configuration}`
    )
  }
  return text
}

async function isListening (port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
