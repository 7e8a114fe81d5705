// Keeps records that were opened, so that a client that asks for its task again and again costs neither a
// decryption nor a parse. Most records do not change between two reads.

import { LRUCache } from 'lru-cache'
import type { TaskRecord } from './record.ts'

interface OpenedRecord {
  readonly sealed: Buffer
  readonly record: TaskRecord
}

/** All records together, in bytes of their sealed form. As objects they take about twice as much. */
const MAX_BYTES = 4 * 2 ** 20
/** A longer record is opened each time, in bytes. */
const MAX_RECORD_BYTES = 65_536

export class OpenedRecords {
  readonly #opened = new LRUCache<string, OpenedRecord>({
    maxSize: MAX_BYTES, sizeCalculation: ({ sealed }) => sealed.length
  })

  /**
   * Returns the record with exactly these sealed bytes. A version alone is not enough: a store that lost
   * writes in a failover gives it to another record.
   */
  find (entry: string, sealed: Buffer): TaskRecord | undefined {
    const entryRecord = this.#opened.get(entry)
    return entryRecord?.sealed.equals(sealed) === true ? entryRecord.record : undefined
  }

  keep (entry: string, sealed: Buffer, record: TaskRecord): void {
    if (sealed.length > MAX_RECORD_BYTES) return
    // What a store read can be a part of a longer buffer, and would hold all of it.
    this.#opened.set(entry, { sealed: Buffer.from(sealed), record })
  }
}
