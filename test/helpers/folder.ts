// A folder for one test, removed when the test ends.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export async function makeFolder (t: Test, parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'trivet-'))
  t.teardown(async () => await rm(folder, { recursive: true, force: true }))
  return folder
}
