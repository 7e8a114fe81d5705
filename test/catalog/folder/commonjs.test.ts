// CommonJS files of a catalog that require 'trivet'.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, writeInPlace, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { send, type Message } from '../../helpers/request.ts'

const FILES: Files = {
  'tools/one.cjs': `const { defineTool } = require('trivet')
    module.exports = defineTool({ name: 'one', run: () => 'one' })`,
  'tools/named.cjs': `const { defineTool } = require('trivet')
    exports.two = defineTool({ name: 'two', run: () => require('../lib/shared.cjs').text })
    exports.three = defineTool({
      name: 'three',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      async run ({ id }, ctx) {
        const { ToolError } = require('trivet')
        if (id === 'new') return (await ctx.handles(require('../lib/shared.cjs').notes).create({ n: 1 })).id
        throw new ToolError('No ' + id)
      }
    })`,
  'tools/four.ts': `import { defineTool } from 'trivet'
    import shared from '../lib/shared.cjs'
    export default defineTool({ name: 'four', run: () => shared.text })`,
  'lib/shared.cjs': `const { defineHandle, defineSettings } = require('trivet')
    exports.text = 'shared'
    exports.settings = defineSettings({ A: { type: 'string', default: 'a' } })
    exports.notes = require('./deeper.cjs')`,
  // Is not exported by the module that is loaded: the call registers it.
  'lib/deeper.cjs': `module.exports = require('trivet').defineHandle({
    kind: 'note', prefix: 'nt', schema: { type: 'object' }, idleTtlMs: 60_000, createdBy: 'three'
  })`
}

async function callOf (app: Awaited<ReturnType<typeof buildApp>>, name: string, args = {}): Promise<Message> {
  const params = { name, arguments: args }
  return (await send(app, { method: 'tools/call', params })).response.result
}

t.test('a .cjs file gets the functions of the service, and so do the files that it requires', async (t) => {
  const app = await buildApp(t, FILES)
  const { tools } = (await send(app, { method: 'tools/list' })).response.result
  t.strictSame(
    tools.map(({ name }: Message) => name).filter((name: string) => name !== 'continue_call'),
    ['four', 'one', 'three', 'two']
  )
  t.match(await callOf(app, 'one'), { content: [{ text: 'one' }] })
  t.match(await callOf(app, 'two'), { content: [{ text: 'shared' }] })
  t.match(await callOf(app, 'four'), { content: [{ text: 'shared' }] })
  t.match(await callOf(app, 'three', { id: 'new' }), { content: [{ text: /^nt_/ }] }, 'a handle is registered')
  t.match(
    await callOf(app, 'three', { id: 'x' }), { isError: true, content: [{ text: 'No x' }] },
    'a handler may require it later'
  )
})

t.test('a changed .cjs file is loaded again, with what it requires', async (t) => {
  const root = await writeCatalog(t, FILES)
  const app = await buildApp(t, {}, { catalog: root, watch: 'on' })
  await writeInPlace(root, 'lib/shared.cjs', `${String(FILES['lib/shared.cjs'])}\nexports.text = 'changed'`)
  const isChanged = async () => (await callOf(app, 'four')).content[0].text === 'changed'
  await until(isChanged, 'the changed file', 20_000)
  t.match(await callOf(app, 'two'), { content: [{ text: 'changed' }] })
  t.match(await callOf(app, 'three', { id: 'new' }), { content: [{ text: /^nt_/ }] })
})

t.test('a .js file is CommonJS where it is to Node: without imports, in a package of no type', async (t) => {
  const common = {
    'tools/a.js': `const { defineTool } = require('trivet')
      const text = require('../lib/b.js')
      module.exports = defineTool({ name: 'a', run: () => text })`,
    'lib/b.js': "module.exports = 'b'"
  }
  for (const type of [undefined, '{}', '{ "type": "commonjs" }']) {
    const files = type === undefined ? common : { ...common, 'package.json': type }
    const app = await buildApp(t, files)
    t.match(await callOf(app, 'a'), { content: [{ text: 'b' }] }, String(type))
  }
  t.match(await problemsOf(t, { ...common, 'package.json': '{ "type": "module" }' }), [
    { file: 'tools/a.js', place: 'line 1', rule: /^require is not defined/ }
  ])
  const module = toolModule('m').replace('"ok"', 'String(typeof module)')
  const others = { 'tools/m.js': module, 'tools/n.js': `import './m.js'\n${toolModule('n')}` }
  const app = await buildApp(t, { ...common, ...others })
  t.match(await callOf(app, 'm'), { content: [{ text: 'undefined' }] }, 'beside modules')
  t.match(await callOf(app, 'a'), { content: [{ text: 'b' }] })
})

t.test('what is not of the service comes from Node', async (t) => {
  const requiring = (specifier: string) => `const { defineTool } = require('trivet')
    const other = require('${specifier}')
    module.exports = defineTool({ name: 'a', run: () => typeof other })`
  t.strictSame(await problemsOf(t, { 'tools/a.cjs': requiring('node:fs') }), [])
  for (const specifier of ['constructor', 'trivet/nothing', '../lib/none.cjs']) {
    t.match(await problemsOf(t, { 'tools/a.cjs': requiring(specifier) }), [
      { file: 'tools/a.cjs', place: 'line 2', rule: /Cannot find module|is not defined by "exports"/ }
    ], specifier)
  }
  t.match(await problemsOf(t, {
    'tools/a.cjs': "require('pack')",
    'node_modules/pack/package.json': '{ "name": "pack", "main": "./main.js" }',
    'node_modules/pack/main.js': "require('trivet')"
  }), [{ rule: /Cannot find module 'trivet'/ }], 'a package has its own trivet, or none')
})
