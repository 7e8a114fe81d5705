// Files in a folder, each under its key. Replicas on one machine, or with one volume, share it.

import { createReadStream } from 'node:fs'
import { access, constants, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolder } from '../../../base/file-system.ts'
import { random } from '../../../base/time.ts'
import { codeOf, messageOf } from '../../../base/words.ts'
import { ABANDONED_MS, expiryOf, type ByteRange, type FileStorage } from '../storage.ts'

const INCOMPLETE = '.incomplete-'

/** Creates a missing folder. Rejects if the folder cannot be used. */
export async function openFolderStorage (folder: string): Promise<FileStorage> {
  try {
    makeFolder(folder, 0o700)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const reason = messageOf(cause)
    const problem = `expected a folder that Trivet may write to, got "${reason}"`
    throw new Error(`file:${folder} cannot be used: ${problem}`, { cause })
  }
  const pathOf = (name: string) => join(folder, name)
  return {
    async write (key, source) {
      // The file gets its name when it is complete.
      const draft = pathOf(`${INCOMPLETE}${random.bytes(12).toString('hex')}`)
      try {
        const file = await open(draft, 'wx', 0o600)
        try {
          for await (const chunk of source) await writeAll(file, chunk)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(draft, pathOf(key))
        await syncNames(folder)
      } catch (error) {
        await rm(draft, { force: true })
        await rm(pathOf(key), { force: true })
        throw error
      }
    },
    async read (key, range) {
      return await openStream(pathOf(key), range)
    },
    async has (key) {
      return await orUndefined(stat(pathOf(key))) !== undefined
    },
    async delete (key) {
      await rm(pathOf(key), { force: true })
    },
    async sweep (now, mayGoOn = () => true) {
      let count = 0
      for (const name of await readdir(folder)) {
        if (!mayGoOn()) break
        const expiresAt = expiryOf(name)
        if (expiresAt !== undefined && expiresAt < now) {
          await rm(pathOf(name), { force: true })
          count++
        } else if (name.startsWith(INCOMPLETE)) {
          const facts = await orUndefined(stat(pathOf(name)))
          const isAbandoned = facts !== undefined && facts.mtimeMs < now - ABANDONED_MS
          if (isAbandoned) await rm(pathOf(name), { force: true })
        }
      }
      return count
    },
    async close () {}
  }
}

async function writeAll (file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, at)
    at += bytesWritten
  }
}

/** Makes the names in a folder as durable as its files: a loss of power would undo the last rename. */
async function syncNames (folder: string): Promise<void> {
  const directory = await open(folder, constants.O_RDONLY)
  try {
    await directory.sync()
  } catch (error) {
    // Some network file systems cannot do it, and need not.
    if (!(error instanceof Error && 'code' in error && error.code === 'EINVAL')) throw error
  } finally {
    await directory.close()
  }
}

/** Opens the file at once: if it is deleted later, the stream still reads it to its end. */
async function openStream (path: string, range: ByteRange | undefined): Promise<Readable | undefined> {
  const file = await orUndefined(open(path, constants.O_RDONLY | constants.O_NOFOLLOW))
  return file === undefined ? undefined : createReadStream('', { fd: file, ...range })
}

async function orUndefined<T> (opening: Promise<T>): Promise<T | undefined> {
  return await opening.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
}
