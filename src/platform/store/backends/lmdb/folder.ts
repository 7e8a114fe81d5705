// Opens the folder of the LMDB store and the databases in it. No other file loads the driver.

import { accessSync, constants, existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { open, type Database, type Key, type RootDatabase } from 'lmdb'
import { makeFolder } from '../../../../base/file-system.ts'
import { messageOf } from '../../../../base/words.ts'
import { findDataProblem } from './data-file.ts'
import { assertRoom } from './room.ts'

/** The files of LMDB in a folder. */
const FILES = ['data.mdb', 'lock.mdb']

const OPENING = {
  // Without it, a dot in the folder's name would make LMDB open a file.
  noSubdir: false,
  // A commit is on the disk before any reader sees it. Flushing later would not be faster here.
  overlappingSync: false,
  // Batching would end Node after a failed commit: it rejects a promise that nothing handles. Transactions
  // share commits without it too.
  eventTurnBatching: false,
  // Each prefix that a process uses has five. LMDB allows twelve by default.
  maxDbs: 64
}

/** Databases of this prefix have no prefix in their names, like those of releases before prefixes. */
const DEFAULT_PREFIX = 'trivet'

/**
 * `['entry', name]` has the time of a due entry and its generation. `['time', time, name]` finds the entries
 * of a time.
 */
export type DueKey = ['entry', string] | ['time', number, string]

export interface LmdbFolder {
  readonly root: RootDatabase<Buffer, string>
  readonly headers: Database<Buffer, string>
  readonly values: Database<Buffer, string>
  /** Keys with the time of expiry first, for the sweep. */
  readonly expiries: Database<Buffer, [number, string]>
  /** For each owner, the number of records, expired ones included, and a time before which none expires. */
  readonly owners: Database<Buffer, string>
  readonly dueTimes: Database<Buffer, DueKey>
  /** The outermost folder that was missing and was created. */
  readonly created?: string
}

/** Creates a missing folder. Throws if the folder cannot be used. */
export function openLmdbFolder (folder: string, prefix: string): LmdbFolder {
  try {
    const created = makeFolder(resolve(folder), 0o700)
    assertUsable(folder)
    const root = open<Buffer, string>({ path: folder, encoding: 'binary', ...OPENING })
    const openDatabase = <K extends Key>(kind: string): Database<Buffer, K> => {
      const name = prefix === DEFAULT_PREFIX ? kind : `${prefix}:${kind}`
      return root.openDB<Buffer, K>({ name, encoding: 'binary' })
    }
    return {
      root,
      headers: openDatabase('headers'),
      values: openDatabase('values'),
      expiries: openDatabase('expiries'),
      owners: openDatabase('owners'),
      dueTimes: openDatabase('due-times'),
      ...(created !== undefined && { created })
    }
  } catch (cause) {
    const reason = messageOf(cause)
    const expected = 'expected a folder on a local disk that Trivet may write to'
    const advice = 'Name another folder, or mend this one'
    const problem = `${expected}, got "${reason}"`
    throw new Error(`TRIVET_STATE_URL=file:${folder} cannot be used: ${problem}. ${advice}`, { cause })
  }
}

/**
 * Removes the files of LMDB if nothing was ever written to them and nothing else is in the folder. No other
 * process may write meanwhile.
 * @param allowed the name of a file that does not count.
 */
export function removeUnusedFiles (folder: string, databases: LmdbFolder, allowed: string): void {
  const { root, headers, values, expiries, owners, dueTimes } = databases
  const counts = [headers, values, expiries, owners, dueTimes].map((part) => part.getKeysCount({ limit: 1 }))
  const names = [...FILES, allowed]
  const isUnused = readdirSync(folder).every((name) => names.includes(name)) &&
    root.getKeysCount() === counts.length && counts.every((count) => count === 0)
  if (isUnused) for (const name of FILES) rmSync(join(folder, name), { force: true })
}

/** Removes the folder and its parents up to the one that was created, as far as they are empty. */
export function removeEmptyFolders (folder: string, created: string): void {
  try {
    for (let path = resolve(folder); ; path = dirname(path)) {
      rmdirSync(path)
      if (path === created) return
    }
  } catch {
    // Another process uses the folder, or has removed it.
  }
}

/** A failed open crashes the process, so known problems are checked before it. */
function assertUsable (folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  for (const name of FILES) {
    const path = join(folder, name)
    if (!existsSync(path)) continue
    if (!statSync(path).isFile()) throw new Error(`${name} is not a file`)
    accessSync(path, constants.R_OK | constants.W_OK)
  }
  const data = join(folder, 'data.mdb')
  const problem = existsSync(data) ? findDataProblem(data) : undefined
  if (problem !== undefined) throw new Error(problem)
  assertRoom(folder)
}
