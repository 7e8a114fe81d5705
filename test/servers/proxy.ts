// A real load balancer for one test, configured by docker-compose.yml.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { until, within } from '../helpers/deadline.ts'

const COMPOSITION = new URL('../../docker-compose.yml', import.meta.url)

/** A text of the configuration, and the text that takes its place in the test. */
export type Swap = readonly [from: string, to: string]

interface ProxyProcess {
  /** The name or the path of the program. */
  readonly program: string
  readonly args: readonly string[]
  /** The port of the loopback interface at which the proxy listens. */
  readonly port: number
}

/** The parsed docker-compose.yml. */
export async function readComposition () {
  return parse(await readFile(COMPOSITION, 'utf8'), { merge: true })
}

/** Starts the proxy and resolves to its origin when it listens. It is stopped when the test ends. */
export async function startProxy (t: Test, { program, args, port }: ProxyProcess): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    // Not SIGKILL: workers would continue without their master.
    child.kill('SIGTERM')
    await within(exited, `the end of ${program}`)
  })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { printed += text })
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended:\n${printed}`)
    return await isListening(port)
  }, program, 10_000)
  return `http://127.0.0.1:${port}`
}

/** Makes each swap in the configuration, and throws if one of the texts is missing. */
export function swapTexts (configuration: string, swaps: readonly Swap[]): string {
  // A compose file doubles each $.
  let text = configuration.replaceAll('$$', () => '$')
  for (const [from, to] of swaps) {
    if (!text.includes(from)) throw new Error(`the configuration must have "${from}":\n${configuration}`)
    text = text.replaceAll(from, () => to)
  }
  if (/trivet-\d+:3000/.test(text)) {
    throw new Error(`the configuration has replicas that do not run:\n${configuration}`)
  }
  return text
}

async function isListening (port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
