// Counts the bytes that each owner keeps. All anonymous callers are one owner: each of their networks may
// keep only a share.

import { createHash } from 'node:crypto'
import { ownerOf, type Principal } from '../access/principal.ts'
import { ToolError } from '../author/tool-error.ts'
import { networkOf, type Sender } from '../limits/holder.ts'
import { Limit } from '../limits/limits.ts'
import { EMPTY_VALUE } from '../store/records/shares.ts'
import type { StateStore } from '../store/records/state-store.ts'

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
  const hashed = network && createHash('sha256').update(network).digest('base64url')
  return { owner: fileOwnerOf(sender.principal), ...hashed !== undefined && { network: hashed } }
}

interface CountedFile { readonly key: string, readonly size: number, readonly expiresAt: number }

export interface Accounts {
  /** Resolves to the bytes that the owner may still add. */
  room (owner: FileOwner): Promise<number>
  /** Counts the file until it expires. Rejects with FilesFull, and does not count it, if it does not fit. */
  add (owner: FileOwner, file: CountedFile): Promise<void>
  remove (owner: FileOwner, file: CountedFile): Promise<void>
}

/** The name of each record has the size of its file: a list of names is enough for a sum. */
export function createAccounts (store: StateStore, maxBytes: number, now: () => number): Accounts {
  const bytes = new Limit('fileBytes', maxBytes)
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
      const rooms = await Promise.all(accounts.map(async (one) => one.maxBytes - await sumOf(one.owner)))
      return Math.max(0, Math.min(...rooms))
    },
    async add (owner, file) {
      const { expiresAt } = file
      const lifetime = { idleMs: Math.max(1, expiresAt - now()), endsAt: expiresAt }
      for (const account of accountsOf(owner)) {
        const key = { owner: account.owner, name: nameOf(file) }
        const record = await store.create(key, EMPTY_VALUE, lifetime, account.maxFiles)
        // Files may have been added since `room` was read.
        if (record !== 'full' && await sumOf(account.owner) <= account.maxBytes) continue
        await remove(owner, file)
        throw new FilesFull()
      }
    },
    remove
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
