// The folder of the LMDB store, and the databases in it. The only file that knows how LMDB is opened.

import {
  accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readSync, statSync
} from 'node:fs'
import { join } from 'node:path'
import { open, type Database, type RootDatabase } from 'lmdb'

/**
 * An LMDB file of this format has these bytes after the header of its first page: a mark, and the format's
 * number.
 */
const MAGIC = Buffer.from('dec0efbe02000000', 'hex')
const MAGIC_AT = 24

const OPENING = {
  // Otherwise a dot in the folder's name would mean a file.
  noSubdir: false,
  // A commit is on the disk before any reader sees it. Flushing later saves nothing here.
  overlappingSync: false,
  // With it, a failed commit rejects a promise that nothing handles, which ends Node. Commits are shared
  // without it too.
  eventTurnBatching: false
}

/** Its databases have no prefix in their names: earlier releases, which knew no prefixes, wrote them so. */
const DEFAULT_PREFIX = 'trivet'

interface LmdbFolder {
  readonly root: RootDatabase<Buffer, string>
  readonly headers: Database<Buffer, string>
  readonly values: Database<Buffer, string>
  /** By time, for the sweep. */
  readonly expiries: Database<Buffer, [number, string]>
  /**
   * The number of an owner's records, expired ones included, and a time before which none of them expires.
   */
  readonly owners: Database<Buffer, string>
}

/** Makes the folder where there is none. Throws where it cannot be used. */
export function openLmdbFolder (folder: string, prefix: string): LmdbFolder {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    assertUsable(folder)
    const root = open<Buffer, string>({ path: folder, encoding: 'binary', ...OPENING })
    const openDatabase = <K extends string | [number, string]>(kind: string): Database<Buffer, K> => {
      const name = prefix === DEFAULT_PREFIX ? kind : `${prefix}:${kind}`
      return root.openDB<Buffer, K>({ name, encoding: 'binary' })
    }
    return {
      root,
      headers: openDatabase('headers'),
      values: openDatabase('values'),
      expiries: openDatabase('expiries'),
      owners: openDatabase('owners')
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const expected = 'expected a folder on a local disk that Trivet may write to'
    const advice = 'Name another folder, or mend this one'
    const problem = `${expected}, got "${reason}"`
    throw new Error(`TRIVET_STATE_URL=file:${folder} cannot be used: ${problem}. ${advice}`, { cause })
  }
}

/** A failed open crashes LMDB, so that known problems are found before it. */
function assertUsable (folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  for (const name of ['data.mdb', 'lock.mdb']) {
    const path = join(folder, name)
    if (!existsSync(path)) continue
    if (!statSync(path).isFile()) throw new Error(`${name} is not a file`)
    accessSync(path, constants.R_OK | constants.W_OK)
  }
  if (!hasDatabase(join(folder, 'data.mdb'))) throw new Error('data.mdb is not a database of this store')
}

/** `true` also where a database can be made. A process that is killed early leaves an empty file. */
function hasDatabase (path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return true
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(MAGIC_AT + MAGIC.length)
    return readSync(file, start) === start.length && start.subarray(MAGIC_AT).equals(MAGIC)
  } finally {
    closeSync(file)
  }
}
