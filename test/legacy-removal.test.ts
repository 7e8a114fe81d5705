// The earlier revisions can be deleted: their room, and two lines of app/app.ts.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { toolModule } from './helpers/catalog-folder.ts'
import { copyProject } from './helpers/project-copy.ts'
import { send, type Message } from './helpers/request.ts'

const LEGACY = ['src/edges/legacy']

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } }
}

t.test('without the earlier revisions, what is left', async (t) => {
  const copy = await copyProject(t)
  for (const path of LEGACY) await rm(join(copy.folder, path), { recursive: true })
  const taken = await copy.takeOut('app/app.ts', /legacy\/open|openLegacyEra/)

  t.equal(taken.length, 2, 'is named in two lines of app/app.ts')
  t.match(taken[0], /^import \{ openLegacyEra \} from '\.\.\/edges\/legacy\/open\.ts'$/, 'an import')
  t.match(
    taken[1],
    /^ {2}if \(config\.legacy === 'on'\) eras\.unshift\(await lifecycle\.open\(openLegacyEra\(.*\)\)$/,
    'and the line that opens them'
  )
  t.equal(await copy.build(), '', 'compiles without errors')

  const app = await copy.start(t, { 'tools/hello.ts': toolModule('hello') })
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
