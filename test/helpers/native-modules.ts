// Node's own word on modules.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('load-natively.mjs', import.meta.url))

/** What each of these modules shows when Node loads it, in a process with no loader of the test runner. */
export async function loadNatively (paths: readonly string[]): Promise<unknown[]> {
  const { NODE_OPTIONS: _none, ...env } = process.env
  const child = spawn(process.execPath, ['--no-warnings', SCRIPT], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(paths))
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(output)
}
