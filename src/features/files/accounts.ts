// Counts the bytes that each owner keeps, from the first byte that is written. All anonymous callers are one
// owner: each of their networks may keep only a share.

import { hash } from 'node:crypto'
import { ownerOf, type Principal } from '../../platform/access/principal.ts'
import { ToolError } from '../../platform/author/tool-error.ts'
import { networkOf, type Sender } from '../../platform/limits/holder.ts'
import { Limit } from '../../platform/limits/limits.ts'
import { createRemovals } from '../../platform/store/records/removals.ts'
import { EMPTY_VALUE } from '../../platform/store/records/shares.ts'
import { StoreUnavailable, type StateStore } from '../../platform/store/records/state-store.ts'
import { ABANDONED_MS } from './storage.ts'

/** The owner of a file, without addresses and subjects: it travels in links. */
export interface FileOwner {
  readonly owner: string
  /** The network of an anonymous owner, hashed. */
  readonly network?: string
}

const FILES = new Limit('files')

/**
 * Returns the subject of the token, without its client: a browser that downloads a file has another token.
 * Returns the client if the token has no subject.
 */
export function fileOwnerOf ({ subject, clientId, issuer, scopes }: Principal): string {
  return ownerOf({
    scopes,
    ...issuer !== undefined && { issuer },
    ...subject !== undefined ? { subject } : clientId !== undefined && { clientId }
  })
}

export function toFileOwner (sender: Sender): FileOwner {
  const network = networkOf(sender)
  const hashed = network && hash('sha256', network, 'base64url')
  return { owner: fileOwnerOf(sender.principal), ...hashed !== undefined && { network: hashed } }
}

interface CountedFile { readonly key: string, readonly size: number }

/** Counts one file while it is written, and from then on. */
export interface FileAccount {
  /** Counts this many bytes before they are written. Rejects with FilesFull if they do not fit. */
  reserve (bytes: number): Promise<void>
  /** Counts the written file until it expires. Rejects with FilesFull if it does not fit. */
  keep (size: number, expiresAt: number): Promise<void>
  /** Stops counting. Never rejects. */
  end (): Promise<void>
}

export interface Accounts {
  open (owner: FileOwner, key: string): FileAccount
  remove (owner: FileOwner, file: CountedFile): Promise<void>
}

/** The mark of a file that is being written, at the end of a record's name. */
const UNFINISHED = '.w'

/**
 * The name of each record has the size and the key of its file: a list of names is enough for a sum. A file
 * that is being written has a record that expires with its incomplete bytes, if the writer is killed. Its
 * next record is created before the last one is deleted, so the largest record of a key counts.
 */
export function createAccounts (store: StateStore, maxBytes: number, now: () => number): Accounts {
  const bytes = new Limit('fileBytes', maxBytes)
  const removals = createRemovals(store)
  const accountsOf = ({ owner, network }: FileOwner) => [
    { owner: `files-${owner}`, maxBytes, maxFiles: FILES.max },
    ...network === undefined
      ? []
      : [{
          owner: `files-of-${network}`,
          maxBytes: bytes.shareOf('network'),
          maxFiles: FILES.shareOf('network')
        }]
  ]
  const nameOf = ({ size, key }: CountedFile) => `${size.toString(36)}.${key}`

  async function sumOf (owner: string): Promise<number> {
    const sizes = new Map<string, number>()
    for (const name of (await store.list(owner)).keys()) {
      const [size = '', key = ''] = name.split('.')
      sizes.set(key, Math.max(sizes.get(key) ?? 0, Number.parseInt(size, 36)))
    }
    return [...sizes.values()].reduce((sum, size) => sum + size, 0)
  }

  /**
   * Deletes the records of this name. A record that cannot be reached now is deleted in the background.
   *
   * @param isAway whether the store did not answer before: another timeout would come on top.
   */
  async function forget (owner: FileOwner, name: string, isAway = false): Promise<void> {
    for (const account of accountsOf(owner)) {
      const key = { owner: account.owner, name }
      if (isAway) removals.add(key)
      else await store.delete(key).catch(() => removals.add(key))
    }
  }

  return {
    open (owner, key) {
      let reserved: { readonly size: number, readonly name: string, readonly endsAt: number } | undefined
      let isAway = false

      /** @param checks whether the sum must allow the file. */
      async function add (name: string, endsAt: number, checks: boolean): Promise<void> {
        const lifetime = { idleMs: Math.max(1, endsAt - now()), endsAt }
        try {
          for (const account of accountsOf(owner)) {
            // A file that is counted already has two records for a moment.
            const limit = reserved === undefined ? account.maxFiles : 2 * account.maxFiles
            const record = await store.create({ owner: account.owner, name }, EMPTY_VALUE, lifetime, limit)
            if (record === 'full') throw new FilesFull()
            // The record is counted first: of files that are added at once, none misses the others.
            if (checks && await sumOf(account.owner) > account.maxBytes) throw new FilesFull()
          }
        } catch (error) {
          isAway ||= error instanceof StoreUnavailable
          await forget(owner, name, isAway)
          throw error
        }
      }

      async function end (): Promise<void> {
        if (reserved !== undefined) await forget(owner, reserved.name, isAway)
        reserved = undefined
      }

      async function reserve (size: number): Promise<void> {
        const name = nameOf({ size, key }) + UNFINISHED
        const endsAt = now() + ABANDONED_MS
        await add(name, endsAt, true)
        await end()
        reserved = { size, name, endsAt }
      }

      return {
        reserve,
        end,
        async keep (size, expiresAt) {
          if (reserved === undefined) await reserve(size)
          const isCounted = reserved !== undefined && size <= reserved.size && now() < reserved.endsAt
          await add(nameOf({ size, key }), expiresAt, !isCounted)
          await end()
        }
      }
    },
    async remove (owner, file) {
      await forget(owner, nameOf(file))
    }
  }
}

/** The files of the owner have reached the limit. */
export class FilesFull extends ToolError {
  constructor () {
    super('The limit of files is reached: the caller keeps as many bytes as the service allows. ' +
      'Room comes back when files expire.')
    this.name = 'FilesFull'
  }
}
