// Keeps a second service off the state of one: events, counts of calls and streams are known to one process
// only, so that its clients would miss what happens in the other.

import { rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join, relative } from 'node:path'

/** Systems allow 104 to 108 bytes with a zero at the end, and Node cuts a longer path without a word. */
const MAX_PATH_BYTES = 103

/**
 * Holds a socket in the folder until it is released, or until the process ends in any way. Rejects if another
 * process holds it. Does nothing where the file system has no sockets, or where the path is too long for one.
 */
export async function claimFolder (
  folder: string, prefix: string
): Promise<{ release (): Promise<void> }> {
  const path = toShorter(join(folder, `${prefix}.sock`))
  let claim = await listen(path)
  if (claim === 'taken') {
    if (await isAnswered(path)) {
      throw new Error(`TRIVET_STATE_URL=file:${folder} cannot be used: ` +
        'another process keeps its state there. Stop it first, or set another folder or ' +
        'TRIVET_STATE_PREFIX. Replicas share state in Redis')
    }
    // Left behind by a process that was killed.
    rmSync(path, { force: true })
    claim = await listen(path)
  }
  const server = claim
  return {
    async release () {
      if (typeof server === 'string') return
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/** Relative to the working directory if that is shorter. */
function toShorter (path: string): string {
  const short = relative('', path)
  return short.length < path.length ? short : path
}

async function listen (path: string): Promise<Server | 'taken' | 'unsupported'> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return 'unsupported'
  const server = createServer((socket) => socket.destroy())
  return await new Promise((resolve) => {
    server.once('error', (error) => {
      resolve('code' in error && error.code === 'EADDRINUSE' ? 'taken' : 'unsupported')
    })
    server.listen(path, () => resolve(server.unref()))
  })
}

async function isAnswered (path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
