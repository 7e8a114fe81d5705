// Reads the file of the database before the driver maps it to memory: a read beyond the end of a file that
// was cut off ends the process by a signal.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { findMissingPage, type DataPages } from './data-pages.ts'

/**
 * The first two pages are headers. Commits write them in turn, and the one with the later transaction counts.
 * Their numbers are in the order of bytes of the machine: all that Node runs this on have the lowest first.
 */
const MAGIC = 0xbeefc0de
const FORMAT = 2
const AT = {
  magic: 24, format: 28, pageSize: 48, freeRoot: 88, mainRoot: 136, lastPage: 144, transaction: 152
}
const HEADER_BYTES = 160
const MIN_PAGE = 256
const MAX_PAGE = 65_536

interface DataHeader {
  readonly pageSize: number
  readonly roots: readonly bigint[]
  readonly lastPage: number
  readonly transaction: bigint
}

/** Returns why the file cannot be opened. `undefined` for a whole or an empty one. */
export function findDataProblem (path: string): string | undefined {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    // A process that is killed while it opens a new folder leaves an empty file.
    return size === 0 ? undefined : findProblem(file, size)
  } finally {
    closeSync(file)
  }
}

function findProblem (file: number, size: number): string | undefined {
  const read = (position: number, length: number) => {
    const bytes = Buffer.alloc(length)
    return readSync(file, bytes, 0, length, position) === length ? bytes : undefined
  }
  const first = toHeader(read(0, HEADER_BYTES))
  if (first === undefined) return 'data.mdb is not a database of this store'
  const second = toHeader(read(first.pageSize, HEADER_BYTES))
  const { pageSize, roots, lastPage } = second !== undefined && second.transaction > first.transaction
    ? second
    : first
  const expected = (lastPage + 1) * pageSize
  if (size >= expected) return second === undefined ? 'data.mdb has lost its second header' : undefined
  // The last pages are missing in a whole file too, if the commit that took them did not need them.
  const pages: DataPages = { pageSize, count: Math.floor(size / pageSize), read }
  if (second !== undefined && findMissingPage(pages, roots) === undefined) return undefined
  return `data.mdb was cut off: it has ${size} of ${expected} bytes. Restore a whole copy of the folder, ` +
    'or remove data.mdb and lock.mdb to begin without state'
}

function toHeader (bytes: Buffer | undefined): DataHeader | undefined {
  if (bytes === undefined) return undefined
  if (bytes.readUInt32LE(AT.magic) !== MAGIC || bytes.readUInt32LE(AT.format) !== FORMAT) return undefined
  const pageSize = bytes.readUInt32LE(AT.pageSize)
  if (pageSize < MIN_PAGE || pageSize > MAX_PAGE || (pageSize & (pageSize - 1)) !== 0) return undefined
  return {
    pageSize,
    roots: [bytes.readBigUInt64LE(AT.freeRoot), bytes.readBigUInt64LE(AT.mainRoot)],
    lastPage: Number(bytes.readBigUInt64LE(AT.lastPage)),
    transaction: bytes.readBigUInt64LE(AT.transaction)
  }
}
