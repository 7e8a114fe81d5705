// The command that `trivet dev` prints opens the official Inspector. Its user interface needs packages with
// native parts, which are not installed here: the same flags are given to its command line.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'
import t, { type Test } from 'tap'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startService } from '../../helpers/service.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CATALOG = join(ROOT, 'catalog')
const PROGRAM = join(ROOT, 'node_modules/.bin/mcp-inspector')
const LINE = /^\d\d:\d\d:\d\d The Inspector opens it: npx @modelcontextprotocol\/inspector (--.*)$/m

/** Starts `dev`. Resolves to the flags of the command that it prints. */
async function readFlags (t: Test, settings: { readonly [variable: string]: string } = {}) {
  const service = await startService(t, { TRIVET_LOG_LEVEL: 'info', ...settings }, { args: ['dev', CATALOG] })
  const printed = () => stripVTControlCharacters(service.stdout())
  await until(() => LINE.test(printed()), 'the command')
  const [, flags = ''] = LINE.exec(printed()) ?? []
  return { flags: flags.split(' '), printed }
}

/** Asks by the command line of the Inspector. */
async function ask (t: Test, flags: readonly string[], method: string) {
  // It keeps its files there.
  const env = { PATH: process.env.PATH ?? '', HOME: await makeFolder(t) }
  const { stdout } = await promisify(execFile)(PROGRAM, ['--cli', ...flags, '--method', method], { env })
  return JSON.parse(stdout)
}

t.test('the printed command lists the tools of the bookshop, in the current era', async (t) => {
  const { flags, printed } = await readFlags(t)
  const { tools } = await ask(t, flags, 'tools/list')
  const names = tools.map(({ name }: { name: string }) => name)
  t.ok(names.includes('search_books') && names.includes('checkout'), names.join())
  await until(() => /server\/discover 200/.test(printed()), 'the first request of the current era')
  t.notMatch(printed(), 'initialize')
})

t.test('the printed command fits a service with a path of its own, and without earlier eras', async (t) => {
  const { flags } = await readFlags(t, { TRIVET_PATH: '/other/mcp', TRIVET_LEGACY: 'off' })
  t.match(flags.at(-1), /^http:\/\/127\.0\.0\.1:\d+\/other\/mcp$/)
  const answer = await ask(t, flags, 'initialize')
  t.match(answer, { serverInfo: { name: 'bookshop' }, protocolVersion: '2026-07-28' })
})

t.test('a flag that the Inspector does not know is refused: the flags above are known', async (t) => {
  await t.rejects(ask(t, ['--server-address', 'http://127.0.0.1:1/mcp'], 'tools/list'), /server-address/)
})

t.test('serve prints no command', async (t) => {
  const service = await startService(t, { TRIVET_LOG_LEVEL: 'info' }, { args: ['serve', CATALOG] })
  await fetch(new URL('/livez', service.url))
  await service.stop()
  t.notMatch(service.stdout(), 'nspector')
})
