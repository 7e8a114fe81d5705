// Streams files into the storage within the limits, and counts them for their owner.

import { ToolError } from '../../platform/author/tool-error.ts'
import { ArrivingBytes } from '../../platform/limits/arriving-bytes.ts'
import { Limit } from '../../platform/limits/limits.ts'
import { FilesFull, type Accounts, type FileAccount, type FileOwner } from './accounts.ts'
import { createStorageKey, type FileStorage, type OpenPart } from './storage.ts'

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

/** @param partBytes counts the parts of files that wait in memory, until the storage takes them. */
export function createKeptFiles (
  storage: FileStorage, accounts: Accounts, partBytes = new ArrivingBytes(new Limit('partBytes'))
): KeptFiles {
  function openPartOf ({ owner, network }: FileOwner): OpenPart {
    const holder = network === undefined
      ? { kind: 'principal', name: owner } as const
      : { kind: 'network', name: network } as const
    // The name of the network is hashed, and would tell an operator nothing.
    return (onRefused) => partBytes.openFor(holder, ({ message }) => onRefused(new Error(message)))
  }

  return {
    async keep ({ owner, bytes, maxBytes, expiresAt, size: expected }) {
      const key = createStorageKey(expiresAt)
      const account = accounts.open(owner, key)
      const source = new MeasuredBytes(bytes, maxBytes, account)
      try {
        if (expected !== undefined) await source.expect(expected)
        await storage.write(key, source, openPartOf(owner)).catch((error: unknown) => {
          throw source.error === undefined ? new StorageFailed(error) : source.error.cause
        })
        const { size } = source
        await account.keep(size, expiresAt).catch(async (error: unknown) => {
          await storage.delete(key)
          throw error
        })
        return { key, size }
      } catch (error) {
        await source.end()
        await account.end()
        throw error
      }
    },
    async drop (owner, file) {
      await accounts.remove(owner, file)
      await storage.delete(file.key)
    }
  }
}

/** A stream of unknown size reserves twice the bytes that have come, within these bounds. */
const FIRST_BYTES = 65_536
const MAX_STEP_BYTES = 16_777_216

/** Counts the bytes before they pass. Throws when a limit is exceeded. */
class MeasuredBytes implements AsyncIterable<Uint8Array> {
  size = 0
  /** The error that ended the bytes: it is not one of the storage. */
  error: { readonly cause: unknown } | undefined
  readonly #bytes: AsyncIterable<Uint8Array>
  readonly #maxBytes: number
  readonly #account: Pick<FileAccount, 'reserve'>
  #reserved = 0
  #growing: Promise<void> | undefined
  #isOver = false

  constructor (bytes: AsyncIterable<Uint8Array>, maxBytes: number, account: Pick<FileAccount, 'reserve'>) {
    this.#bytes = bytes
    this.#maxBytes = maxBytes
    this.#account = account
  }

  /** Reserves all bytes of a source whose size is known. */
  async expect (size: number): Promise<void> {
    this.#check(size)
    await this.#reserve(size)
  }

  /** A storage that gives up may still wait for bytes. Resolves when those can reserve nothing any more. */
  async end (): Promise<void> {
    this.#isOver = true
    await this.#growing?.catch(() => {})
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
      if (next.done === true) return next
      this.#check(this.size += next.value.length)
      if (this.#isOver) throw new Error('the storage has given up the file')
      if (this.size > this.#reserved) await (this.#growing = this.#grow())
      return next
    } catch (cause) {
      this.error = { cause }
      throw cause
    }
  }

  #check (size: number): void {
    if (size > this.#maxBytes) throw new FileTooLarge(this.#maxBytes)
  }

  async #grow (): Promise<void> {
    const { size } = this
    const step = Math.min(Math.max(FIRST_BYTES, 2 * size), size + MAX_STEP_BYTES, this.#maxBytes)
    await this.#reserve(step).catch(async (error: unknown) => {
      if (!(error instanceof FilesFull) || step === size) throw error
      await this.#reserve(size)
    })
  }

  async #reserve (size: number): Promise<void> {
    await this.#account.reserve(size)
    this.#reserved = size
  }
}
