// Digests of the contents of files. A file is read again only when it may have changed.

import { createHash, hash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { yieldToRequests } from '../../modules/yield-to-requests.ts'
import type { FolderFile } from './folder-files.ts'

export interface FileDigests {
  /** Empty for a file that cannot be read, or is larger than `maxBytes`. */
  of (file: Omit<FolderFile, 'path'>): Promise<string>
  /** Drops the files that were not asked for since the last call. */
  forgetUnused (): void
}

interface KnownFile { readonly stamp: string, readonly digest: string }

/** Reading a small file at once takes a tenth of the CPU time of a stream. */
const MAX_SYNC_BYTES = 65_536

/** @param maxBytes nobody can read larger files, so that their contents make no difference. */
export function createFileDigests (maxBytes: number): FileDigests {
  let earlier = new Map<string, KnownFile>()
  let current = new Map<string, KnownFile>()

  return {
    async of ({ absolutePath, size, stamp }) {
      await yieldToRequests()
      let known = current.get(absolutePath) ?? earlier.get(absolutePath)
      if (known?.stamp !== stamp) {
        const digest = size > maxBytes ? '' : await digestFile(absolutePath, size).catch(() => '')
        known = { stamp, digest }
      }
      current.set(absolutePath, known)
      return known.digest
    },
    forgetUnused () {
      earlier = current
      current = new Map()
    }
  }
}

async function digestFile (path: string, size: number): Promise<string> {
  if (size <= MAX_SYNC_BYTES) return hash('sha256', readFileSync(path))
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk)
  return digest.digest('hex')
}
