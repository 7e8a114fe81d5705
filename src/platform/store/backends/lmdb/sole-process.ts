// Keeps a second service off the state of one: events, counts of calls and streams are known to one process
// only, so that its clients would miss what happens in the other.

import {
  closeSync, existsSync, lstatSync, mkdtempSync, openSync, rmSync, symlinkSync, type BigIntStats
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Runs the work while no other process runs any for the same folder. */
type Exclusively = <T>(work: () => T) => T

/** The own socket, or one that is there already. */
type SocketOutcome = { readonly server: Server } | { readonly other: BigIntStats } | 'unsupported'

/** Systems allow 104 to 108 bytes with a zero at the end, and Node cuts a longer path without a word. */
const MAX_PATH_BYTES = 103
/** Linux names the files that a process has opened here, by their descriptors. */
const DESCRIPTORS = '/proc/self/fd'

/** The name of the socket in the folder. */
export function claimNameOf (prefix: string): string {
  return `${prefix}.sock`
}

/**
 * Holds a socket in the folder until it is released, or until the process ends in any way. Rejects if another
 * process holds it. Does nothing where the file system has no sockets.
 */
export async function claimFolder (
  folder: string, prefix: string, exclusively: Exclusively
): Promise<{ release (): Promise<void> }> {
  const { path, forget } = toSocketPath(folder, claimNameOf(prefix))
  const server = await makeSocket(path, exclusively)
  if (server === undefined) forget()
  if (server === 'taken') {
    forget()
    throw new Error(`TRIVET_STATE_URL=file:${folder} cannot be used: ` +
      'another process keeps its state there. Stop it first, or set another folder or ' +
      'TRIVET_STATE_PREFIX. Replicas share state in Redis')
  }
  return {
    async release () {
      if (!server?.listening) return
      await new Promise((resolve) => server.close(resolve))
      forget()
    }
  }
}

/** Resolves to `undefined` where there are no sockets. */
async function makeSocket (path: string, exclusively: Exclusively): Promise<Server | 'taken' | undefined> {
  let dead: BigIntStats | undefined
  for (;;) {
    const outcome = await listen(path, exclusively, dead)
    if (outcome === 'unsupported') return undefined
    if ('server' in outcome) return outcome.server
    if (await isAnswered(path)) return 'taken'
    // Left behind by a process that was killed.
    dead = outcome.other
  }
}

/**
 * Node makes a socket and listens at it in one step. Every process takes that step exclusively, so that a
 * socket which does not answer is dead. Another process may have replaced the dead one meanwhile.
 */
async function listen (path: string, exclusively: Exclusively, dead?: BigIntStats): Promise<SocketOutcome> {
  const server = createServer((socket) => socket.destroy())
  return await new Promise((resolve) => {
    const owner = exclusively(() => {
      const current = statOf(path)
      const isDead = current !== undefined && current.ino === dead?.ino && current.ctimeNs === dead.ctimeNs
      if (isDead) rmSync(path, { force: true })
      server.listen(path)
      return isDead ? undefined : current
    })
    server.once('error', () => resolve(owner === undefined ? 'unsupported' : { other: owner }))
    server.once('listening', () => resolve({ server: server.unref() }))
  })
}

function statOf (path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

async function isAnswered (path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    // Too many connect at once: the process is there.
    socket.once('error', (error) => resolve('code' in error && error.code === 'EAGAIN'))
  })
}

/** Returns a path that is short enough for a socket. `forget` comes after its last use. */
function toSocketPath (folder: string, name: string): { readonly path: string, forget (): void } {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, forget () {} }
  if (existsSync(DESCRIPTORS)) {
    const descriptor = openSync(folder, 'r')
    return { path: join(DESCRIPTORS, String(descriptor), name), forget: () => closeSync(descriptor) }
  }
  const parent = mkdtempSync(join(tmpdir(), 'trivet-'))
  symlinkSync(resolve(folder), join(parent, 'f'))
  return { path: join(parent, 'f', name), forget: () => rmSync(parent, { recursive: true }) }
}
