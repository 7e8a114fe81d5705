// The PATH of `npm test`: what a machine with Node and git has, and no server. A test that needs another
// program must say so by test/servers/programs.ts, which puts it into `npm run test:all`.

import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const TOOLS = [
  'basename', 'bash', 'cat', 'chmod', 'cp', 'cut', 'date', 'dirname', 'env', 'find', 'git', 'grep', 'head',
  'ln', 'ls', 'mkdir', 'mkfifo', 'mktemp', 'mv', 'npm', 'npx', 'ps', 'rm', 'script', 'sed', 'sh', 'sleep',
  'sort', 'tail', 'tar', 'touch', 'tr', 'true', 'uname', 'wc'
]

/** Links the tools into a new folder. Returns its path. */
export function linkTools (folder) {
  const target = join(folder, 'bin')
  mkdirSync(target)
  symlinkSync(process.execPath, join(target, 'node'))
  for (const tool of TOOLS) {
    const path = process.env.PATH.split(delimiter).map((place) => join(place, tool)).find(existsSync)
    if (path !== undefined) symlinkSync(path, join(target, tool))
  }
  return target
}
