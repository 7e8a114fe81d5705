// What the methods of a caller resolve to.

import { pathToFileURL } from 'node:url'
import t from 'tap'
import { openCatalog } from '../../../src/testing.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { open, toModule } from './open.ts'

t.test('a call has the content, its text and the structured content', async (t) => {
  const catalog = await open(t, {
    'tools/all.ts': toModule(`export const typed = defineTool({
      name: 'typed',
      inputSchema: { type: 'object', properties: { a: { type: 'integer', default: 7 } } },
      outputSchema: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
      run: ({ a }) => ({ a })
    })
    export const blocks = defineTool({ name: 'blocks', run: () => ({ content: [
      { type: 'text', text: 'one' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }, { type: 'text', text: 'two' }
    ], _meta: { 'com.example/a': 1 } }) })
    export const fails = defineTool({ name: 'fails', run () { throw new ToolError('No such book.') } })`)
  })
  const { structuredContent: { a } } = await catalog.call<{ a: number }>('typed')
  t.equal(a, 7, 'defaults are filled in')
  const { _meta, ...result } = await catalog.call('typed', { a: 1, b: undefined })
  t.match(_meta, { 'io.modelcontextprotocol/serverInfo': { version: '0.0.0' } })
  t.strictSame(result, {
    content: [{ type: 'text', text: '{"a":1}' }],
    structuredContent: { a: 1 },
    isError: false,
    text: '{"a":1}',
    progress: [],
    logs: [],
    changes: []
  })
  t.match(await catalog.call('blocks'), {
    text: 'one\ntwo', content: { length: 3 }, structuredContent: undefined, _meta: { 'com.example/a': 1 }
  })
  t.match(await catalog.call('fails'), { isError: true, text: 'No such book.' })
  t.match(await catalog.call('typed', { a: 'x' }), { isError: true, text: /Invalid arguments for typed:\n- / })
})

t.test('a call has what the handler reported, and nothing of other calls', async (t) => {
  const catalog = await open(t, {
    'tools/report.ts': toolModule(
      'report', "inputSchema: { type: 'object', properties: { id: { type: 'integer' } } }",
      `async ({ id }, ctx) => {
        for (const step of [1, 2, 2]) {
          await new Promise((resolve) => setTimeout(resolve, 5))
          ctx.progress(step, 2, 'step ' + step)
          ctx.log.warning('slow', { id, step })
          ctx.notify.resourceUpdated('x://' + id, { private: step === 2 })
        }
        ctx.log.debug('done')
        return 'ok'
      }`
    )
  })
  const calls = await Promise.all([1, 2, 3].map(async (id) => await catalog.call('report', { id })))
  for (const [index, { progress, logs, changes }] of calls.entries()) {
    const id = index + 1
    t.strictSame(progress, [
      { progress: 1, total: 2, message: 'step 1' }, { progress: 2, total: 2, message: 'step 2' }
    ])
    t.strictSame(logs, [
      ...[1, 2, 2].map((step) => ({ level: 'warning', message: 'slow', data: { id, step } })),
      { level: 'debug', message: 'done' }
    ])
    t.strictSame(changes, [false, true, true].map((isPrivate) => ({ uri: `x://${id}`, private: isPrivate })))
  }
})

t.test('prompts, resources, lists and completions', async (t) => {
  const catalog = await open(t, {
    'prompts/hello.md': `---
description: Greets
arguments:
  - name: who
    complete: [ada, bob]
---
Hello {{who}}
<!-- assistant -->
Hi`,
    'resources/a.txt': 'text of a',
    'resources/r.resource.ts': toModule(`export const b = defineResourceTemplate({
      uriTemplate: 'book://{id}', name: 'b', complete: { id: (typed, { arguments: { shelf } }) => [typed + shelf] },
      read: ({ id }, ctx) => { ctx.log.info('read'); return 'book ' + id }
    })`),
    'skills/s/SKILL.md': '---\nname: s\ndescription: S.\n---\nSteps.',
    'tools/a.ts': toolModule('a'),
    'tools/b.ts': toolModule('b'),
    'tools/c.ts': toolModule('c', "scopes: ['c:use']"),
    'server.yaml': 'pageSize: 1'
  })
  t.match(await catalog.prompt('hello', { who: 'Ada' }), {
    description: 'Greets',
    messages: [{ role: 'user', content: { text: 'Hello Ada' } }, { role: 'assistant' }],
    text: 'Hello Ada\nHi'
  })
  t.match(await catalog.read('file:///a.txt'), {
    contents: [{ uri: 'file:///a.txt', text: 'text of a' }], text: 'text of a'
  })
  t.match(await catalog.read('book://7'), { text: 'book 7', logs: [{ message: 'read' }] })
  t.match((await catalog.complete({ prompt: 'hello' }, 'who', 'a')).values, ['ada'])
  const completion = await catalog.complete({ template: 'book://{id}' }, 'id', 'x', { shelf: '1' })
  t.strictSame(completion.values, ['x1'])

  const names = (entries: ReadonlyArray<{ readonly name: string }>) => entries.map(({ name }) => name)
  const { tools, prompts, resources, templates, skills } = await catalog.list()
  t.strictSame(names(tools), ['a', 'b'], 'all pages')
  t.strictSame(names(prompts), ['hello'])
  t.ok(resources.some(({ uri }) => uri === 'file:///a.txt'))
  t.match(skills, [{ uri: 'skill://s/SKILL.md', frontmatter: { description: 'S.' } }])
  t.ok(templates.some(({ uriTemplate }) => uriTemplate === 'book://{id}'))
  t.strictSame(names((await catalog.as({ scopes: ['c:use'] }).list()).tools), ['a', 'b', 'c'])
})

t.test('a catalog with problems is refused with all of them', async (t) => {
  const files = { 'tools/a.ts': 'const a = (', 'tools/b.ts': toolModule('not a name') }
  const folder = await writeCatalog(t, files)
  await t.rejects(openCatalog(folder), {
    name: 'CatalogError', problems: [{ file: 'tools/a.ts' }, { file: 'tools/b.ts', rule: /name/ }]
  })
  await t.rejects(openCatalog(folder, { maxTasksPerCaller: 0 }), { name: 'ConfigError' })
})

t.test('the folder may be a URL, and the log may be read', async (t) => {
  const says = toolModule('a', '', '(_, ctx) => { ctx.log.info("hi"); return "" }')
  const folder = await writeCatalog(t, { 'tools/a.ts': says })
  const { logger, lines } = createReadableLog()
  const catalog = await openCatalog(pathToFileURL(folder), { logger })
  await catalog.call('a')
  await catalog.close()
  await catalog.close()
  t.match(lines.filter(({ msg }) => msg === 'hi'), [{ reqId: /./ }])
})

t.test('closes at the end of a block', async (t) => {
  const catalog = await openCatalog(await writeCatalog(t, { 'tools/a.ts': toolModule('a') }))
  t.equal((await catalog.call('a')).text, 'ok')
  await catalog[Symbol.asyncDispose]()
  await t.rejects(catalog.call('a'), { message: 'The catalog is closed.' })
})
