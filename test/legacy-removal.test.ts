// That the earlier revisions can be deleted: their rooms, their composition root, and its import and its line in app.ts.

import { execFile } from 'node:child_process'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { AppOptions } from '../src/app.ts'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { makeFolder } from './helpers/folder.ts'
import { send, type Message } from './helpers/request.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
const LEGACY = ['src/legacy', 'src/methods/legacy', 'src/http/legacy', 'src/app-legacy.ts']

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } }
}

/** A copy of what is built, without what is built from it. */
async function copyProject (t: Test): Promise<string> {
  const folder = await makeFolder(t)
  for (const path of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) await cp(join(PROJECT, path), join(folder, path), { recursive: true })
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Takes the lines out of a file that name any of these, and returns them. */
async function takeOut (file: string, names: RegExp): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  await writeFile(file, lines.filter((line) => !names.test(line)).join('\n'))
  return lines.filter((line) => names.test(line))
}

/** Resolves to what the compiler complains of. */
async function build (folder: string): Promise<string> {
  const compiler = join(folder, 'node_modules', 'typescript', 'bin', 'tsc')
  return await promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: folder }).then(({ stdout }) => stdout, ({ stdout }) => String(stdout))
}

async function startBuilt (t: Test, folder: string): Promise<FastifyInstance> {
  const { createApp } = await import(pathToFileURL(join(folder, 'dist', 'app.js')).href) as { createApp (options: AppOptions): Promise<FastifyInstance> }
  const catalog = await writeCatalog(t, { 'tools/hello.ts': toolModule('hello') })
  const app = await createApp({ catalog, watch: 'off', logLevel: 'silent', stateUrl: 'memory:' })
  t.teardown(async () => await app.close())
  return app
}

t.test('without the earlier revisions, what is left', async (t) => {
  const folder = await copyProject(t)
  for (const path of LEGACY) await rm(join(folder, path), { recursive: true })
  const taken = await takeOut(join(folder, 'src', 'app.ts'), /app-legacy|openLegacyEra/)

  t.equal(taken.length, 2, 'is named in two lines of app.ts')
  t.match(taken[0], /^import \{ openLegacyEra \} from '\.\/app-legacy\.ts'$/, 'an import')
  t.match(taken[1], /^ {2}if \(config\.legacy === 'on'\) eras\.unshift\(await openLegacyEra\(.*\)\)$/, 'and the line that opens them')
  t.equal(await build(folder), '', 'compiles without a complaint')

  const app = await startBuilt(t, folder)
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`

  t.test('serves the current revision', async (t) => {
    const { status, response } = await send(app, { method: 'tools/list' })
    t.equal(status, 200)
    t.strictSame(response.result.tools.map(({ name }: { name: string }) => name), ['hello'])
    const call = await send(app, { method: 'tools/call', params: { name: 'hello', arguments: {} } })
    t.strictSame(call.response.result.content, [{ type: 'text', text: 'ok' }])
  })

  t.test('answers an initialize with the revisions that it has', async (t) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(INITIALIZE)
    })
    t.equal(answer.status, 400)
    t.equal(answer.headers.get('mcp-session-id'), null)
    const { id, error }: Message = await answer.json()
    t.equal(id, 1)
    t.equal(error.code, -32022)
    t.strictSame(error.data.supported, ['2026-07-28'])
  })

  t.test('takes neither GET nor DELETE, with a session or without one', async (t) => {
    for (const method of ['GET', 'DELETE']) {
      for (const session of [{}, { 'mcp-session-id': 'any' }]) {
        const answer = await fetch(url, { method, headers: { accept: 'text/event-stream', ...session } })
        t.equal(answer.status, 405, method)
        t.equal(answer.headers.get('allow'), 'POST')
      }
    }
  })
})
