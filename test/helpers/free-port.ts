import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Has a file for each port, with the id of the process that has found it. */
const FOLDER = join(tmpdir(), `trivet-ports-${process.getuid?.() ?? 0}`)
const reservations: string[] = []

/**
 * Finds a free port that the system gives to no outgoing connection: a server that restarts must find its
 * port free. While this process lives, no other one finds the port: the server may take a while to open it.
 */
export async function findFreePort (): Promise<number> {
  const port = randomInt(20_000, 32_000)
  if (!reserve(port)) return await findFreePort()
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return await findFreePort()
  }
  probe.close()
  await once(probe, 'close')
  return port
}

function reserve (port: number): boolean {
  const file = join(FOLDER, String(port))
  mkdirSync(FOLDER, { recursive: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (!isHeld(file)) rmSync(file, { force: true })
    return false
  }
  reservations.push(file)
  return true
}

/** Whether the process that has found the port lives. A process that was killed leaves its files. */
function isHeld (file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return true
  } catch {
    return false
  }
}

process.once('exit', () => { for (const file of reservations) rmSync(file, { force: true }) })
