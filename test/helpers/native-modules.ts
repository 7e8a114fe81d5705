// Node's own word on modules.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('load-natively.mjs', import.meta.url))

/** What each of these modules shows when Node loads it, in a process with no loader of the test runner. */
export async function loadNatively (paths: readonly string[]): Promise<unknown[]> {
  // The test runner gives each process that it sees start its own loader, by this variable.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--no-warnings', SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  child.stdin.end(JSON.stringify(paths))
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(output)
}
