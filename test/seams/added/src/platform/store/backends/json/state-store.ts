import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import {
  StoreUnavailable, type RecordLifetime, type StateKey, type StateRecord, type StateStore, type StateValue
} from '../../records/state-store.ts'

interface JsonRecord extends RecordLifetime {
  readonly owner: string
  readonly name: string
  readonly value: string
  readonly version: string
  readonly expiresAt: number
}

/** Keeps all records in one JSON file, which each change writes anew. */
export function openJsonStateStore (file: string, now: () => number = Date.now): StateStore {
  const records = new Map(readRecords(file).map((record) => [toId(record), record]))
  let isClosed = false

  function checkOpen (): void {
    if (isClosed) throw new StoreUnavailable(new Error('the store is closed'))
  }

  function find (key: StateKey): JsonRecord | undefined {
    checkOpen()
    const record = records.get(toId(key))
    return record !== undefined && record.expiresAt > now() ? record : undefined
  }

  function liveOf (owner: string): JsonRecord[] {
    return [...records.values()].filter((record) => record.owner === owner && record.expiresAt > now())
  }

  function save (): void {
    writeFileSync(`${file}.new`, JSON.stringify([...records.values()]))
    renameSync(`${file}.new`, file)
  }

  function put (record: Omit<JsonRecord, 'expiresAt'>): StateRecord {
    const expiresAt = Math.min(now() + record.idleMs, record.endsAt ?? Infinity)
    records.set(toId(record), { ...record, expiresAt })
    save()
    return toRecord({ ...record, expiresAt })
  }

  return {
    async create (key, value, lifetime, limit) {
      if (find(key) !== undefined) return 'taken'
      if (liveOf(key.owner).length >= limit) return 'full'
      return put({ ...key, ...lifetime, ...toVersion(value) })
    },
    async read (key) {
      const record = find(key)
      return record && put(record)
    },
    async peek (key) {
      const record = find(key)
      return record && toRecord(record)
    },
    async replace (key, version, value, lifetime) {
      const record = find(key)
      if (record?.version !== version) return undefined
      return put({ ...(lifetime === undefined ? record : { ...key, ...lifetime }), ...toVersion(value) })
    },
    async confirm (key, version) { return find(key)?.version === version },
    async delete (key) {
      const isLive = find(key) !== undefined
      records.delete(toId(key))
      save()
      return isLive
    },
    async list (owner) {
      checkOpen()
      return new Map(liveOf(owner).map(({ name, expiresAt }) => [name, expiresAt]))
    },
    async check () { checkOpen() },
    async close () { isClosed = true }
  }
}

function toRecord ({ value, version, expiresAt }: JsonRecord): StateRecord {
  return { value: { bytes: Buffer.from(value, 'base64') }, version, expiresAt }
}

function toVersion ({ bytes }: StateValue): Pick<JsonRecord, 'value' | 'version'> {
  return { value: bytes.toString('base64'), version: randomUUID() }
}

function toId ({ owner, name }: StateKey): string {
  return `${owner} ${name}`
}

function readRecords (file: string): JsonRecord[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
