// Runs the commands of a page in a folder, as its reader would: with `trivet` and `npx trivet` on the path.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { ROOT } from './pages.ts'

const COMMAND_TIMEOUT_MS = 120_000
const START_TIMEOUT_MS = 60_000
/** The address of the service in all pages. */
const WRITTEN_URL = 'http://127.0.0.1:3000'
/** Its admin address. */
const WRITTEN_ADMIN = 'http://127.0.0.1:9464'
/** A block that ends so serves until a signal comes: the blocks after it call that service. */
const SERVES = /\btrivet (?:serve|dev)\b.*$/

export interface Terminal {
  /** Resolves to the standard output and the standard error. Rejects if the exit code is not 0. */
  run (commands: string): Promise<string>
}

/** Opens a terminal in the folder. A service that it starts ends with the test. */
export async function openTerminal (t: Test, folder: string, bin: string): Promise<Terminal> {
  await writeShims(bin)
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    PORT: '0',
    TRIVET_ADMIN_PORT: '0',
    TRIVET_LOG_LEVEL: 'warn',
    // Git asks who makes a commit.
    GIT_AUTHOR_NAME: 'reader',
    GIT_AUTHOR_EMAIL: 'reader@example.com',
    GIT_COMMITTER_NAME: 'reader',
    GIT_COMMITTER_EMAIL: 'reader@example.com',
    // The machine of the tests is often busy.
    TRIVET_OVERLOAD: 'off'
  }
  let url: string | undefined
  let admin: string | undefined

  async function serve (commands: string): Promise<string> {
    // A group of its own: the end of the test ends the shell, and the service in it.
    const child = spawn('bash', ['-ec', commands], { cwd: folder, env, detached: true, stdio: 'pipe' })
    const exited = once(child, 'exit')
    t.teardown(async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
      await exited
    })
    let said = ''
    return await new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new Error(`${reason}:\n${said}`))
      const timer = setTimeout(() => fail('no URL in time'), START_TIMEOUT_MS)
      child.once('exit', (code) => fail(`ended with ${code} before it served`))
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text
          // The service announces the admin address last.
          const [metrics] = /http:\/\/127\.0\.0\.1:\d+(?=\/metrics)/.exec(said) ?? []
          if (metrics === undefined) return
          clearTimeout(timer)
          admin = metrics
          url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
          resolve('')
        })
      }
    })
  }

  return {
    async run (commands) {
      if (SERVES.test(commands.trim())) return await serve(commands)
      const isAddressed = commands.includes(WRITTEN_URL) || commands.includes(WRITTEN_ADMIN)
      if (isAddressed && url === undefined) await serve(`trivet serve ${ROOT}/catalog`)
      const addressed = commands.replaceAll(WRITTEN_URL, url ?? WRITTEN_URL)
        .replaceAll(WRITTEN_ADMIN, admin ?? WRITTEN_ADMIN)
      const { stdout, stderr } = await promisify(execFile)(
        'bash', ['-ec', addressed], { cwd: folder, env, timeout: COMMAND_TIMEOUT_MS }
      )
      return stdout + stderr
    }
  }
}

async function writeShims (bin: string): Promise<void> {
  await mkdir(bin, { recursive: true })
  const main = `exec "${process.execPath}" "${join(ROOT, 'dist/main.js')}" "$@"\n`
  const npx = '[ "$1" = trivet ] || { echo "npx $1 is not run here" >&2; exit 1; }\nshift\n'
  for (const [name, text] of [['trivet', main], ['npx', npx + main]] as const) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}`)
    await chmod(join(bin, name), 0o755)
  }
}
