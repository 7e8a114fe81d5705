// What modules mean to Node itself.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('load-natively.mjs', import.meta.url))

/** Describes each module as Node loads it, in a process without the test runner's loader. */
export async function loadNatively (paths: readonly string[]): Promise<unknown[]> {
  // This variable makes each child process load the test runner's loader.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--no-warnings', SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  child.stdin.end(JSON.stringify(paths))
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(output)
}
