// Commands as processes: what they say when their output cannot be written.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))

const FILES = {
  'tools/leave.ts': toolModule('leave', '', "() => { Promise.reject(new Error('left')); return 'ok' }")
}

async function run (args: readonly string[], catalog: string, output?: string) {
  const env = { PATH: process.env.PATH ?? '', TRIVET_CATALOG: catalog }
  const descriptor = output === undefined ? undefined : openSync(output, 'w')
  const stdio = ['ignore', descriptor ?? 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: [...stdio] })
  if (descriptor !== undefined) closeSync(descriptor)
  const [[exitCode], ...texts] = await Promise.all([
    once(child, 'exit'), ...[child.stdout, child.stderr].map(async (stream) => stream && await text(stream))
  ])
  const [out, err] = texts.map((one) => one ?? '')
  return { exitCode, out, err }
}

t.test('output that cannot be written is a failure in one line, and no token is shown', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const commands = [
    ['list'], ['list', '--json'], ['check', '--json'], ['completion', 'bash'], ['token', '--subject', 'ci'],
    ['call', 'leave'], ['--version']
  ]
  for (const args of commands) {
    const { exitCode, err } = await run(args, catalog, '/dev/full')
    // The tool leaves a promise too.
    const lines = err?.split('\n').filter((line) => !/^(a promise was| {4}at )/.test(line))
    const expected = [1, 'standard output cannot be written: ENOSPC', '']
    t.strictSame([exitCode, ...lines ?? []], expected, args.join(' '))
  }
})

t.test('a rejected promise that a tool leaves is reported, and ends nothing', async (t) => {
  const { exitCode, out, err } = await run(['call', 'leave'], await writeCatalog(t, FILES))
  t.strictSame([exitCode, out], [0, 'ok\n'])
  t.match(err, /^a promise was rejected and nobody handled it: Error: left\n/)
})

t.test('a URL of another scheme is no folder', async (t) => {
  for (const args of [['list', 'ftp://x/'], ['check', 'ftp://x/'], ['call', 'ftp://x/', 'a']]) {
    const { exitCode, err } = await runProgram(args)
    t.equal(exitCode, 2)
    t.equal(err, 'name a folder, or a URL that begins with http:// or https://, not ftp://x/\n')
  }
})
