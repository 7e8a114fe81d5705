// The schemas of tools in lists: hosts get them without references, and calls are checked as before.

import t from 'tap'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { readCatalog } from '../../helpers/load-catalog.ts'
import { send } from '../../helpers/request.ts'
import { LEGACY_REVISIONS, openSession } from '../../helpers/session.ts'

const PLACE = { type: 'object', properties: { zip: { type: 'string', maxLength: 5 } }, required: ['zip'] }
const WRITTEN = {
  type: 'object',
  properties: {
    from: { $ref: '#/$defs/place' },
    to: { $ref: '#/$defs/place', description: 'The end.' },
    region: { type: 'string', 'x-mcp-header': 'Region' }
  },
  $defs: { place: PLACE }
}
const RESOLVED = {
  type: 'object',
  properties: { from: PLACE, to: { ...PLACE, description: 'The end.' }, region: WRITTEN.properties.region }
}

const options = `inputSchema: ${JSON.stringify(WRITTEN)}, outputSchema: ${JSON.stringify(WRITTEN)}`
const files: Files = { 'tools/route.ts': toolModule('route', options, '(args) => args') }
const asWritten: Files = { ...files, 'server.yaml': 'schemas: as-written' }

t.test('lists have no references, in every revision (110)', async (t) => {
  const app = await buildApp(t, files)
  const [tool] = (await send(app, { method: 'tools/list' })).response.result.tools
  t.strictSame(tool.inputSchema, RESOLVED)
  t.strictSame(tool.outputSchema, RESOLVED)
  const url = await listen(app)
  for (const revision of LEGACY_REVISIONS) {
    const session = await openSession(t, url, { revision })
    const [legacyTool] = (await session.request('tools/list')).result.tools
    t.strictSame(legacyTool.inputSchema, RESOLVED, revision)
  }
})

t.test('calls are checked by what is written, and headers mirror the same arguments', async (t) => {
  const app = await buildApp(t, files)
  const call = async (args: object, headers = {}) => (
    await send(app, { method: 'tools/call', params: { name: 'route', arguments: args }, headers })
  ).response
  const args = { from: { zip: '1' }, region: 'a' }
  t.strictSame((await call(args, { 'mcp-param-region': 'a' })).result.structuredContent, args)
  t.match(await call(args), { error: { code: -32020 } })
  t.match((await call({ to: { zip: '123456' } })).result, { isError: true, content: [{ text: /to\.zip/ }] })
})

t.test('a catalog may list them as they are written (114)', async (t) => {
  const [tool] = (await send(await buildApp(t, asWritten), { method: 'tools/list' })).response.result.tools
  t.strictSame([tool.inputSchema, tool.outputSchema], [WRITTEN, WRITTEN])
})

t.test('a reload that only changes the form lists the same tool anew', async (t) => {
  const { contents } = await readCatalog(await writeCatalog(t, files))
  const compiler = new CatalogCompiler({ pageSize: 1000 })
  const schemaIn = async (schemas: 'auto' | 'as-written') => {
    const snapshot = await compiler.compile({ ...contents, server: { ...contents.server, schemas } })
    return JSON.parse(snapshot.primitives.tools[0]?.json ?? '{}').inputSchema
  }
  t.strictSame(await schemaIn('auto'), RESOLVED)
  t.strictSame(await schemaIn('as-written'), WRITTEN)
})
