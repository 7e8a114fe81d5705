// The folder of the LMDB store, and the databases in it. The only file that knows how LMDB is opened.

import { open, type Database, type RootDatabase } from 'lmdb'
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** How every LMDB file of this format begins, after the header of its first page: a mark, and the format's number. */
const MAGIC = Buffer.from('dec0efbe02000000', 'hex')
const MAGIC_AT = 24

const OPENING = {
  // Otherwise a dot in the folder's name would mean a file.
  noSubdir: false,
  // A commit is on the disk before anybody sees it, this store and the others. One that is flushed later costs as much here.
  overlappingSync: false,
  // With it, a commit that fails rejects a promise that nobody has, which ends Node. Commits are shared without it too.
  eventTurnBatching: false
}

export interface LmdbFolder {
  readonly root: RootDatabase<Buffer, string>
  readonly headers: Database<Buffer, string>
  readonly values: Database<Buffer, string>
  /** By time, for the sweep. */
  readonly expiries: Database<Buffer, [number, string]>
  /** How many records an owner has, expired ones included, and before when none of them expires. */
  readonly owners: Database<Buffer, string>
}

/** Makes the folder where there is none. Throws where it cannot be used. */
export function openLmdbFolder (folder: string): LmdbFolder {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    refuseUnusable(folder)
    const root = open<Buffer, string>({ path: folder, encoding: 'binary', ...OPENING })
    const openDatabase = <K extends string | [number, string]>(name: string): Database<Buffer, K> => root.openDB<Buffer, K>({ name, encoding: 'binary' })
    return { root, headers: openDatabase('headers'), values: openDatabase('values'), expiries: openDatabase('expiries'), owners: openDatabase('owners') }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`TRIVET_STATE_URL=file:${folder} cannot be used: expected a folder on a local disk that Trivet may write to, got "${reason}". Name another folder, or mend this one`, { cause })
  }
}

/** LMDB does not survive an open that fails: what can be foreseen is found before it. */
function refuseUnusable (folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  for (const name of ['data.mdb', 'lock.mdb']) {
    const path = join(folder, name)
    if (!existsSync(path)) continue
    if (!statSync(path).isFile()) throw new Error(`${name} is not a file`)
    accessSync(path, constants.R_OK | constants.W_OK)
  }
  if (!hasDatabase(join(folder, 'data.mdb'))) throw new Error('data.mdb is not a database of this store')
}

/** Whether there is one, or room for one. An empty file is what a process leaves that is killed at the very beginning. */
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
