// One temporary folder for the working files of a run. The folder is removed when the process exits.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = mkdtempSync(join(tmpdir(), 'trivet-bench-'))
process.once('exit', () => rmSync(root, { recursive: true, force: true }))

/** A path in the workspace that nothing else uses. */
export function workspacePath (name) {
  return join(mkdtempSync(join(root, 'part-')), name)
}
