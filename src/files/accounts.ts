// Counts the bytes that each owner keeps. All anonymous callers are one owner, so each of their networks may
// keep only its share.

import { createHash } from 'node:crypto'
import { ownerOf, type Principal } from '../access/principal.ts'
import { ToolError } from '../author/tool-error.ts'
import { networkOf, type Sender } from '../limits/network.ts'
import { shareOf } from '../limits/share.ts'
import { EMPTY_VALUE } from '../store/records/shares.ts'
import type { StateStore } from '../store/records/state-store.ts'

/** Whose a file is. Without addresses and subjects: it travels in links. */
export interface FileOwner {
  readonly owner: string
  /** Of an anonymous owner. */
  readonly network?: string
}

/** The most files that one owner may have at a time. */
const MAX_FILES = 10_000

/**
 * The subject of the token, whatever client it uses: a browser that downloads a file has a token of its own.
 * The client, for a token without a subject.
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
  const hashed = network && createHash('sha256').update(network).digest('base64url')
  return { owner: fileOwnerOf(sender.principal), ...hashed !== undefined && { network: hashed } }
}

interface CountedFile { readonly key: string, readonly size: number, readonly expiresAt: number }

export interface Accounts {
  /** How many bytes the owner may still add. */
  room (owner: FileOwner): Promise<number>
  /** Counts the file until it expires. Rejects with FilesFull, and does not count it, if it does not fit. */
  add (owner: FileOwner, file: CountedFile): Promise<void>
  remove (owner: FileOwner, file: CountedFile): Promise<void>
}

/** The size is in the name of each record: a list of names is enough to add sizes up. */
export function createAccounts (store: StateStore, maxBytes: number, now: () => number): Accounts {
  const accountsOf = ({ owner, network }: FileOwner) => [
    { owner: `files-${owner}`, maxBytes, maxFiles: MAX_FILES },
    ...network === undefined
      ? []
      : [{ owner: `files-of-${network}`, maxBytes: shareOf(maxBytes), maxFiles: shareOf(MAX_FILES) }]
  ]
  const nameOf = ({ size, key }: CountedFile) => `${size.toString(36)}.${key}`

  async function used (owner: string): Promise<number> {
    let bytes = 0
    for (const name of (await store.list(owner)).keys()) bytes += Number.parseInt(name, 36)
    return bytes
  }

  async function remove (owner: FileOwner, file: CountedFile): Promise<void> {
    const name = nameOf(file)
    for (const account of accountsOf(owner)) await store.delete({ owner: account.owner, name })
  }

  return {
    async room (owner) {
      const accounts = accountsOf(owner)
      const rooms = await Promise.all(accounts.map(async (one) => one.maxBytes - await used(one.owner)))
      return Math.max(0, Math.min(...rooms))
    },
    async add (owner, file) {
      const { expiresAt } = file
      const lifetime = { idleMs: Math.max(1, expiresAt - now()), endsAt: expiresAt }
      for (const account of accountsOf(owner)) {
        const key = { owner: account.owner, name: nameOf(file) }
        const record = await store.create(key, EMPTY_VALUE, lifetime, account.maxFiles)
        // Others may have added files since the room was looked up.
        if (record !== 'full' && await used(account.owner) <= account.maxBytes) continue
        await remove(owner, file)
        throw new FilesFull()
      }
    },
    remove
  }
}

/** The owner keeps as much as the limit allows. */
export class FilesFull extends ToolError {
  constructor () {
    super('The limit of files is reached: the caller keeps as many bytes as the service allows. ' +
      'Room comes back when files expire.')
    this.name = 'FilesFull'
  }
}
