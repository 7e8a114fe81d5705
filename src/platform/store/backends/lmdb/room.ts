// Room on the disk for the files of LMDB. It maps new files to memory before they have room: without any, the
// process would end by a signal.

import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../../base/words.ts'

/** What a new folder takes, and a little more. */
const NEW_FOLDER_BYTES = 65_536

/**
 * Throws if the disk has no room for new files. Needs no room for files that have some: a service on a full
 * disk starts, and reads what it has.
 */
export function assertRoom (folder: string): void {
  if (hasRoom(join(folder, 'data.mdb')) && hasRoom(join(folder, 'lock.mdb'))) return
  try {
    takeRoom(join(folder, 'room.mdb'))
  } catch (error) {
    throw new Error(`there is no room for new files (${messageOf(error)}). Make room on the disk`)
  }
}

/** A process that ended while it opened a new folder leaves files without any. */
function hasRoom (path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) > 0
}

/** Takes room and gives it back. The file has no name meanwhile, so that a process that ends leaves none. */
function takeRoom (path: string): void {
  const file = openSync(path, 'w')
  try {
    // Another process that starts now may have removed it.
    rmSync(path, { force: true })
    let bytes = 0
    while (bytes < NEW_FOLDER_BYTES) bytes += writeSync(file, Buffer.alloc(NEW_FOLDER_BYTES - bytes))
  } finally {
    closeSync(file)
  }
}
