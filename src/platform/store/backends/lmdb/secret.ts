// The secret beside the database, for services without TRIVET_SECRETS. Tokens that clients keep for the
// service are then as durable as its state.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../../../base/words.ts'
import { random } from '../../../../base/time.ts'
import type { KeptSecret } from '../backend.ts'

const SECRET = /^[\w-]{32,}$/

/** Creates a missing file, which only this user may read. Throws if the file has no secret. */
export function readKeptSecret (folder: string, prefix: string): KeptSecret {
  const file = join(folder, `${prefix}.secret`)
  const secret = (readIfThere(file) ?? create(file)).trim()
  if (!SECRET.test(secret)) {
    const advice = 'Remove it for a new secret, or set TRIVET_SECRETS'
    throw new Error(`${file} must have 32 characters or more. ${advice}`)
  }
  return { secret, file }
}

function readIfThere (file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The file gets its name once it is complete. If another process was first, its secret is used. */
function create (file: string): string {
  const draft = `${file}.${random.bytes(6).toString('hex')}`
  const secret = random.name(36)
  try {
    writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
    publish(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file, 'utf8')
}

/** A link fails if the file exists. Some file systems have no links: there, the last process wins. */
function publish (draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch {
    if (readIfThere(file) === undefined) renameSync(draft, file)
  }
}
