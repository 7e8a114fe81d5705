// The records of upload links: which file came by a link, and who is sending one now.

import { random, timers } from '../../base/time.ts'
import { Limit } from '../../platform/limits/limits.ts'
import type { Broadcast, ReplicaMessage } from '../../platform/store/changes/broadcast.ts'
import { retryOutage } from '../../platform/store/records/lost-replies.ts'
import type { RecordLifetime, StateKey, StateStore } from '../../platform/store/records/state-store.ts'
import type { FileOwner } from './accounts.ts'
import type { KeptFile } from './kept-files.ts'
import type { UploadLink } from './links.ts'

/** A file that came by an upload link. */
export interface ReceivedFile extends KeptFile {
  readonly name: string
  readonly mimeType: string
  readonly expiresAt: number
}

/** Names the record of a link. `records` is absent in links of earlier releases. */
export type LinkRecord = Pick<UploadLink, 'id' | 'owner' | 'records'>

/** The right to send a file by a link. It ends by itself soon after the replica is lost. */
export interface UploadTurn { end (): Promise<void> }

/** The record of an upload link names the file that came by it. A link that has a record is used up. */
export interface UploadRecords {
  find (link: LinkRecord): Promise<ReceivedFile | undefined>
  /** Resolves to whether the link has a record, when that is as durable as one that was just added. */
  isUsed (link: LinkRecord): Promise<boolean>
  /** Resolves to `undefined` while another file is being sent by the link. */
  begin (link: UploadLink): Promise<UploadTurn | undefined>
  /**
   * Resolves to `taken` if the link has been used, and to `full` if its owner has too many records. Rejects
   * with a StoreUnavailable if it is not known whether the record exists.
   */
  add (link: UploadLink, file: ReceivedFile): Promise<'added' | 'taken' | 'full'>
  /** Calls the listener when a file has come by the link, or may have come. Returns a function to stop. */
  listen (link: LinkRecord, listener: () => void): () => void
}

export interface UploadRecordsDependencies {
  readonly store: StateStore
  readonly broadcast: Pick<Broadcast, 'send' | 'listen'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Each record names a file, so the limit of files is the limit of records. */
const RECORDS = new Limit('files')
/** How long a link stays taken after its replica is lost, in milliseconds. */
const TURN_MS = 60_000
/** The pauses after lost replies, and how long they are tried again: for several timeouts of a command. */
const LOST_REPLY = { firstMs: 50, maxMs: 500, forMs: 5000 }
const RECEIVED = 'file-received'

/**
 * Returns the owner of the link's record. Anonymous callers are one owner of files: each of their networks is
 * an owner of records.
 */
export function recordsOwnerOf ({ owner, network }: FileOwner): string {
  return network === undefined ? `uploads-${owner}` : `uploads-of-${network}`
}

export function createUploadRecords (
  { store, broadcast, now }: UploadRecordsDependencies
): UploadRecords {
  const keyOf = ({ id, owner, records = `uploads-${owner}` }: LinkRecord) => ({ owner: records, name: id })

  /** Creates the record. A record of the same value is one that an earlier attempt created. */
  async function create (
    key: StateKey, bytes: Buffer, lifetime: RecordLifetime, limit: number
  ): Promise<'added' | 'taken' | 'full'> {
    return await retryOutage(async () => {
      const outcome = await store.create(key, { bytes }, lifetime, limit)
      if (outcome === 'full') return 'full'
      // Not a use: who asks for a turn that another sender has must not extend it.
      const record = outcome === 'taken' ? await store.peek(key) : outcome
      return record?.value.bytes.equals(bytes) === true ? 'added' : 'taken'
    }, LOST_REPLY)
  }

  return {
    async find (link) {
      const record = await store.read(keyOf(link))
      return record === undefined ? undefined : JSON.parse(record.value.bytes.toString())
    },
    async isUsed (link) {
      const key = keyOf(link)
      const record = await store.read(key)
      return record !== undefined && await store.confirm(key, record.version)
    },
    async begin (link) {
      const key = { owner: `uploading-${link.id}`, name: 'turn' }
      const bytes = Buffer.from(random.name(16))
      const release = async () => {
        const record = await store.peek(key)
        // The turn may have expired, and another sender may have one.
        if (record?.value.bytes.equals(bytes) === true) await store.delete(key)
      }
      // While the store is away, no answer waits for it: the link is free as soon as the store is back.
      const releaseLater = () => { retryOutage(release, LOST_REPLY).catch(() => {}) }
      const outcome = await create(key, bytes, { idleMs: TURN_MS }, 1).catch((error: unknown) => {
        releaseLater()
        throw error
      })
      if (outcome !== 'added') return undefined
      // A read is a use: it extends the turn.
      const timer = timers.setInterval(() => { store.read(key).catch(() => {}) }, TURN_MS / 3).unref()
      return {
        async end () {
          timers.clear(timer)
          await release().catch(releaseLater)
        }
      }
    },
    async add (link, file) {
      // The record outlives its file: the link must not work again.
      const endsAt = Math.max(file.expiresAt, link.expiresAt)
      const lifetime = { idleMs: Math.max(1, endsAt - now()), endsAt }
      const limit = link.network === undefined ? RECORDS.max : RECORDS.shareOf('network')
      const outcome = await create(keyOf(link), Buffer.from(JSON.stringify(file)), lifetime, limit)
      // A handler that does not hear of it looks for itself.
      if (outcome === 'added') broadcast.send({ type: RECEIVED, id: link.id }).catch(() => {})
      return outcome
    },
    listen ({ id }, listener) {
      const hear = (message: ReplicaMessage) => {
        if (message.type === RECEIVED && message.id === id) listener()
      }
      return broadcast.listen(hear, listener)
    }
  }
}
