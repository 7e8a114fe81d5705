// Streams files into the storage within the limits, and counts them for their owner.

import { ToolError } from '../author/tool-error.ts'
import { FilesFull, type Accounts, type FileOwner } from './accounts.ts'
import { createStorageKey, type FileStorage } from './storage.ts'

interface FileRequest {
  readonly owner: FileOwner
  readonly bytes: AsyncIterable<Uint8Array>
  /** The limit of this file, in bytes. */
  readonly maxBytes: number
  /** The expiry in milliseconds since the epoch. */
  readonly expiresAt: number
  /** The size of the source in bytes, if it is known. */
  readonly size?: number
}

export interface KeptFile { readonly key: string, readonly size: number }

export interface KeptFiles {
  /**
   * Rejects with a FileTooLarge or with another ToolError, and keeps nothing, if the file does not fit or the
   * storage fails. Rejects with the error of the bytes if those cannot be read.
   */
  keep (request: FileRequest): Promise<KeptFile>
  /** Deletes the file, and stops counting it. */
  drop (owner: FileOwner, file: KeptFile & { readonly expiresAt: number }): Promise<void>
}

export class FileTooLarge extends ToolError {
  constructor (maxBytes: number) {
    super(`The file is larger than ${maxBytes} bytes, the most that is taken.`)
    this.name = 'FileTooLarge'
  }
}

/** The storage is full or unavailable. Other requests continue. */
export class StorageFailed extends ToolError {
  constructor (cause: unknown) {
    super('The file could not be kept: the storage is full or does not answer. Try again later.', { cause })
    this.name = 'StorageFailed'
  }
}

export function createKeptFiles (storage: FileStorage, accounts: Accounts): KeptFiles {
  return {
    async keep ({ owner, bytes, maxBytes, expiresAt, size: expected = 0 }) {
      const key = createStorageKey(expiresAt)
      const source = new MeasuredBytes(bytes, maxBytes, await accounts.room(owner))
      source.check(expected)
      await storage.write(key, source).catch((error: unknown) => {
        throw source.error === undefined ? new StorageFailed(error) : source.error.cause
      })
      const { size } = source
      try {
        await accounts.add(owner, { key, size, expiresAt })
      } catch (error) {
        await storage.delete(key)
        throw error
      }
      return { key, size }
    },
    async drop (owner, file) {
      await accounts.remove(owner, file)
      await storage.delete(file.key)
    }
  }
}

/** Counts the bytes as they pass. Throws when a limit is exceeded. */
class MeasuredBytes implements AsyncIterable<Uint8Array> {
  size = 0
  /** The error that ended the bytes: it is not one of the storage. */
  error: { readonly cause: unknown } | undefined
  readonly #bytes: AsyncIterable<Uint8Array>
  readonly #maxBytes: number
  readonly #room: number

  constructor (bytes: AsyncIterable<Uint8Array>, maxBytes: number, room: number) {
    this.#bytes = bytes
    this.#maxBytes = maxBytes
    this.#room = room
  }

  check (size: number): void {
    if (size > this.#maxBytes) throw new FileTooLarge(this.#maxBytes)
    if (size > this.#room) throw new FilesFull()
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Uint8Array> {
    const chunks = this.#bytes[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await this.#next(chunks)
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await chunks.return?.()
    }
  }

  async #next (chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    try {
      const next = await chunks.next()
      if (next.done !== true) this.check(this.size += next.value.length)
      return next
    } catch (cause) {
      this.error = { cause }
      throw cause
    }
  }
}
