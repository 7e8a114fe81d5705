// The built service as a process, as an operator runs it.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const START_DEADLINE_MS = 30_000

export interface Service {
  readonly url: string
  readonly child: ChildProcess
  /** The output so far. */
  stdout (): string
  stderr (): string
  /** Sends the signal and resolves to the exit code. */
  stop (signal?: NodeJS.Signals): Promise<number | null>
}

export interface Exit { readonly code: number | null, readonly stdout: string, readonly stderr: string }

interface LaunchOptions {
  /** The program and its first arguments, in place of `node dist/main.js`. */
  readonly command?: readonly [program: string, ...args: string[]]
  readonly cwd?: string
  /** The user to run as, if not the own one. */
  readonly uid?: number | undefined
  readonly args?: readonly string[]
}

type Environment = { readonly [variable: string]: string }

/**
 * Starts `dist/main.js` on a free port, and stops it when the test ends.
 */
export async function startService (
  t: Test, environment: Environment, options?: LaunchOptions
): Promise<Service> {
  const { child, stdout, stderr, exited } = launch(environment, options)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no URL within ${START_DEADLINE_MS} ms:\n${stdout()}${stderr()}`)),
      START_DEADLINE_MS
    )
    // Stops when the URL is found: the log after it may be long.
    child.stdout?.on('data', function look () {
      const [found] = /http:\/\/[^\s"]+/.exec(stdout()) ?? []
      if (found === undefined) return
      child.stdout?.off('data', look)
      clearTimeout(timer)
      resolve(found)
    })
    exited.then((code) => {
      clearTimeout(timer)
      reject(new Error(`exited with ${code} before it served:\n${stdout()}${stderr()}`))
    }, reject)
  })
  return {
    url,
    child,
    stdout,
    stderr,
    async stop (signal = 'SIGTERM') {
      child.kill(signal)
      return await exited
    }
  }
}

/** Starts `dist/main.js`, which is expected to end by itself. */
export async function runService (environment: Environment, options?: LaunchOptions): Promise<Exit> {
  const { stdout, stderr, exited } = launch(environment, options)
  return { code: await exited, stdout: stdout(), stderr: stderr() }
}

/** Starts `dist/main.js`, and does not wait for it. */
export function launch (environment: Environment, options: LaunchOptions = {}) {
  const { command: [program, ...first] = [process.execPath, MAIN], args = [], cwd, uid } = options
  const child = spawn(program, [...first, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      TRIVET_LOG_LEVEL: 'warn',
      TRIVET_STATE_URL: 'memory:',
      // The machine of the tests is often busy.
      TRIVET_OVERLOAD: 'off',
      ...environment
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
    ...(uid !== undefined && { uid })
  })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => { printed.stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { printed.stderr += text })
  const exited = once(child, 'close').then(([code]: Array<number | null>) => code ?? null)
  return { child, exited, stdout: () => printed.stdout, stderr: () => printed.stderr }
}
