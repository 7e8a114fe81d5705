import t from 'tap'
import { createService } from '../../../src/app/app.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send, type Message } from '../../helpers/request.ts'
import { LEGACY_REVISIONS, openSession } from '../../helpers/session.ts'
import { serveInVirtualTime, TaskClient } from '../tasks/task-client.ts'
import { authenticator, call, CUT, cursorOf, FILES, MAX_BYTES, readAll } from './cut-results.ts'

t.test('a text is cut at the end of a line, and read_more serves the rest of it', async (t) => {
  const app = await buildApp(t, FILES)
  const { result, bytes } = await call(app, 'lines', { count: 1000 })
  t.ok(bytes <= MAX_BYTES && bytes > MAX_BYTES * 0.6, `${bytes} bytes`)
  const [{ text }, notice] = result.content
  t.match(text, /^Line 0: .*👩‍🚀\.\n$/s)
  t.match(notice.text, /^The result is too large and was cut: it has the first \d+ of \d+ characters\. To read on/)
  t.match(notice.text, /It is kept for 1 hour after the call\.$/)
  const { pieces, maxBytes } = await readAll(app, result)
  t.ok(maxBytes <= MAX_BYTES, `${maxBytes} bytes`)
  t.ok(pieces.slice(0, -1).every((piece) => piece.endsWith('\n')), 'whole lines')
  const whole = Array.from({ length: 1000 }, (_, line) => `Line ${line}: ü "quoted" 👩‍🚀.`).join('\n')
  t.equal(text + pieces.join(''), whole)
  const cursor = cursorOf(result)
  t.strictSame(
    (await call(app, 'read_more', { cursor })).result, (await call(app, 'read_more', { cursor })).result,
    'a repeated call reads the same part'
  )
})

t.test('a text without lines is cut behind a sentence, or between characters', async (t) => {
  const app = await buildApp(t, FILES)
  for (const [text, end] of [
    ['A sentence of some words. ', /words\. $/], ['👩‍🚀', /^(?:👩‍🚀)+$/], ['\u0001', /^$/], ['é"\\', /^(?:é"\\)+/]
  ] as const) {
    const { result, bytes } = await call(app, 'words', { text, times: 2000 })
    t.ok(bytes <= MAX_BYTES, `${bytes} bytes`)
    t.match(result.content[0].text, end)
    const { pieces, maxBytes } = await readAll(app, result)
    t.ok(maxBytes <= MAX_BYTES, `${maxBytes} bytes`)
    if (text !== '\u0001') t.equal(result.content[0].text + pieces.join(''), text.repeat(2000))
  }
  const { result } = await call(app, 'words', { text: 'a', times: 3000 })
  t.equal(result.content.length, 1, 'what fits is not cut')
})

t.test('rows of structured content are cut, and the schema still accepts them (128)', async (t) => {
  const app = await buildApp(t, FILES)
  const { result, bytes } = await call(app, 'rows', { count: 500 })
  t.ok(bytes <= MAX_BYTES && bytes > MAX_BYTES * 0.6, `${bytes} bytes`)
  const { structuredContent: { total, rows }, content: [copy, notice] } = result
  t.equal(total, 500)
  t.strictSame(JSON.parse(copy.text), { total, rows }, 'the text has the same rows (130)')
  t.match(notice.text, `it has the first ${rows.length} of 500 rows of "rows". To read on`)
  t.equal(result.structuredContent.notice, notice.text, 'some hosts show their model nothing else')
  const { pieces } = await readAll(app, result)
  const others = pieces.join('').split('\n').map((line) => JSON.parse(line))
  t.strictSame([...rows, ...others].map(({ id }) => id), Array.from({ length: 500 }, (_, id) => id))
})

t.test('a closed output schema has the notice in lists, where results may be cut (128)', async (t) => {
  const zod = (schema: string) => `
    import { defineTool } from 'trivet'
    import { z } from '${import.meta.resolve('zod')}'
    export default defineTool({
      name: 'zod', description: 'A tool.', ${CUT}, outputSchema: ${schema},
      run: () => ({ rows: Array.from({ length: 500 }, (_, id) => ({ id })) })
    })`
  const open = async (files: Parameters<typeof buildApp>[1]) => {
    const app = await buildApp(t, files)
    const { response } = await send(app, { method: 'tools/list' })
    const { outputSchema } = response.result.tools.find(({ name }: Message) => name !== 'read_more')
    return { app, notice: outputSchema.properties.notice }
  }
  const rows = 'rows: z.array(z.object({ id: z.number() }))'
  const { app, notice } = await open({ 'tools/a.ts': zod(`z.object({ ${rows} })`) })
  t.match(notice, { type: 'string', description: /cut/ })
  const { result } = await call(app, 'zod', {})
  t.notOk(result.isError)
  t.match(result.structuredContent, { rows: [{ id: 0 }], notice: /of 500 rows/ })
  const closed = await buildApp(t, FILES)
  t.match((await call(closed, 'closed', { count: 600 })).result.structuredContent.notice, /of 600 rows/)
  const own = await open({ 'tools/a.ts': zod(`z.object({ ${rows}, notice: z.number().optional() })`) })
  t.equal(own.notice.type, 'number', 'a member of the author stays')
  t.ok((await call(own.app, 'zod', {})).result.isError, 'and the result is a text')
  t.notOk((await open({ 'tools/a.ts': zod(`z.looseObject({ ${rows} })`) })).notice)
  const uncut = { 'tools/a.ts': zod(`z.object({ ${rows} })`).replace(`${CUT}, `, '') }
  t.notOk((await open(uncut)).notice)
  const yaml = { 'server.yaml': 'limits: { resultBytes: { max: 4000, then: cut } }' }
  t.ok((await open({ ...uncut, ...yaml })).notice)
})

t.test('structured content that may not be cut is sent as a text alone (128)', async (t) => {
  const app = await buildApp(t, FILES)
  const whole = (count: number) => JSON.stringify({
    total: count, rows: Array.from({ length: count }, (_, id) => ({ id, name: `é "${id}"` }))
  })
  for (const [name, isError] of [['full', true], ['list', undefined]] as const) {
    const { result, bytes } = await call(app, name, { count: 600 })
    t.ok(bytes <= MAX_BYTES && bytes > MAX_BYTES * 0.6, `${bytes} bytes`)
    t.notOk('structuredContent' in result)
    t.equal(result.isError, isError, 'a success would need it')
    t.equal(/^This is no error\. The result is too large/.test(result.content[1].text), isError === true)
    t.match(result.content[0].text, /},$/, 'cut between two rows')
    const text = result.content[0].text + (await readAll(app, result)).pieces.join('')
    t.equal(text, name === 'list' ? JSON.stringify(JSON.parse(whole(600)).rows) : whole(600))
  }
})

t.test('rows are cut with any texts, schemas that transform, and any layout of their copy', async (t) => {
  const app = await buildApp(t, {
    ...FILES,
    'tools/halves.ts': toolModule('halves', CUT, `() => {
      return { rows: Array.from({ length: 500 }, (_, id) => ({ id, text: 'a\\ud83d\\u202e' })) }
    }`),
    'tools/pretty.ts': toolModule('pretty', CUT, `() => {
      const structuredContent = { rows: Array.from({ length: 500 }, (_, id) => ({ id })) }
      const text = JSON.stringify(structuredContent, null, 2)
      return { content: [{ type: 'text', text }], structuredContent }
    }`),
    'tools/transforms.ts': `
      import { defineTool } from 'trivet'
      import { z } from '${import.meta.resolve('zod')}'
      const row = z.object({ id: z.number(), at: z.date().transform((at) => at.toISOString()).pipe(z.string()) })
      export default defineTool({
        name: 'transforms', description: 'A tool.', ${CUT}, outputSchema: z.looseObject({ rows: z.array(row) }),
        run: () => ({ rows: Array.from({ length: 500 }, (_, id) => ({ id, at: new Date(0) })) })
      })`
  })
  for (const name of ['halves', 'pretty', 'transforms']) {
    const { result, bytes } = await call(app, name, {})
    t.ok(bytes <= MAX_BYTES && bytes > MAX_BYTES * 0.6, `${name}: ${bytes} bytes`)
    t.notOk(result.isError)
    const { structuredContent: { rows, notice }, content: [copy] } = result
    t.match(notice, `it has the first ${rows.length} of 500 rows`)
    t.strictSame(JSON.parse(copy.text), { rows })
    const others = (await readAll(app, result)).pieces.join('').split('\n').map((line) => JSON.parse(line))
    t.strictSame([...rows, ...others].map(({ id }) => id), Array.from({ length: 500 }, (_, id) => id))
  }
})

t.test('a notice is short and safe, whatever the name of the rows', async (t) => {
  const name = '\\u202e\\u0001"'.repeat(100)
  const run = `() => ({ ['${name}']: Array.from({ length: 500 }, (_, id) => ({ id })) })`
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a', CUT.replace('4000', '9000'), run) })
  const { result, bytes } = await call(app, 'a', {})
  t.ok(bytes <= 9000, `${bytes} bytes`)
  t.match(result.content[1].text, /rows of "\\u202e\\u0001.*…"\. To read on/)
})

t.test('a long text beside small structured content is cut', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', CUT, `() => ({
      content: [{ type: 'text', text: 'word '.repeat(5000) }], structuredContent: { rows: [1, 2, 3] }
    })`)
  })
  const { result, bytes } = await call(app, 'a', {})
  t.ok(bytes <= MAX_BYTES)
  t.strictSame(result.structuredContent, { rows: [1, 2, 3] })
  t.equal(result.content[0].text + (await readAll(app, result)).pieces.join(''), 'word '.repeat(5000))
})

t.test('several texts are cut together, and those at the end are left out', async (t) => {
  const block = (text: string) => `{ type: 'text', text: ${text} }`
  const paragraphs = `Array.from({ length: 200 }, (_, id) => (${block("id + ' a paragraph of words.'")}))`
  const two = `[${block("'a b '.repeat(3000)")}, ${block("'c d '.repeat(3000)")}]`
  const picture = "{ type: 'image', data: 'AAAA', mimeType: 'image/png' }"
  const rows = '{ rows: Array.from({ length: 900 }, (_, id) => ({ id })) }'
  const app = await buildApp(t, Object.fromEntries(Object.entries({
    paragraphs: `({ content: ${paragraphs} })`,
    two: `({ content: [${picture}, ...${two}] })`,
    both: `toolResult({ content: ${two}, structuredContent: ${rows} })`,
    fails: `{ throw new ToolError('No.', { content: ${paragraphs} }) }`
  }).map(([name, body]) => [`tools/${name}.ts`, toolModule(name, CUT, `() => ${body}`)])))
  const texts = Array.from({ length: 200 }, (_, id) => `${id} a paragraph of words.`)
  for (const [name, whole] of [
    ['paragraphs', texts], ['two', ['a b '.repeat(3000), 'c d '.repeat(3000)]], ['fails', ['No.', ...texts]]
  ] as const) {
    const { result, bytes } = await call(app, name, {})
    t.ok(bytes <= MAX_BYTES && bytes > MAX_BYTES * 0.6, `${name}: ${bytes} bytes`)
    t.equal(result.isError, name === 'fails' ? true : undefined)
    const parts = result.content.slice(0, -1).filter(({ type }: Message) => type === 'text')
    const head = parts.map(({ text }: Message) => text).join('\n')
    const { pieces } = await readAll(app, result)
    t.equal((head + pieces.join('')).replaceAll('\n', ''), whole.join(''), name)
  }
  t.equal((await call(app, 'two', {})).result.content[0].type, 'image')
  t.match((await call(app, 'both', {})).result.content, [{ text: /^a b / }, { text: /too large and was cut/ }])
})

t.test('what cannot be cut is refused', async (t) => {
  const app = await buildApp(t, FILES)
  for (const [name, args] of [
    ['picture', {}], ['words', { text: 'a', times: 5_000_000 }]
  ] as const) {
    const { result } = await call(app, name, args)
    t.match(result, { isError: true, content: [{ text: /a result may have 4000 bytes of JSON/ }] }, name)
  }
})

t.test('read_more is listed beside a tool whose results may be cut, for those who see it', async (t) => {
  const namesOf = async (files: Parameters<typeof buildApp>[1], authorization = '') => {
    const app = await buildApp(t, files, { authenticator })
    const { response } = await send(app, { method: 'tools/list', headers: { authorization } })
    return response.result.tools.map(({ name }: { name: string }) => name)
  }
  const plain = { 'tools/a.ts': toolModule('a', 'limits: { resultBytes: { max: 4000 } }') }
  t.strictSame(await namesOf(plain), ['a'])
  const yaml = { 'server.yaml': 'limits: { resultBytes: { max: 9000, then: cut } }' }
  t.strictSame(await namesOf({ ...plain, ...yaml }), ['a', 'read_more'])
  const hidden = { ...plain, 'tools/b.ts': toolModule('b', `${CUT}, scopes: ['s']`) }
  t.strictSame(await namesOf(hidden), ['a'])
  t.strictSame(await namesOf(hidden, 'x s'), ['a', 'b', 'read_more'])
  const taken = { 'tools/a.ts': toolModule('read_more', CUT) }
  await t.rejects(buildApp(t, taken), /read_more is a tool of the service/)
})

t.test('limits.resultBytes of server.yaml cuts the results of all tools', async (t) => {
  const app = await buildApp(t, {
    'server.yaml': 'limits: { resultBytes: { max: 3000, then: cut } }',
    'tools/a.ts': toolModule('a', '', '() => "word ".repeat(5000)'),
    'tools/b.ts': toolModule('b', 'limits: { resultBytes: 2500 }', '() => "word ".repeat(5000)')
  })
  const { result, bytes } = await call(app, 'a', {})
  t.ok(bytes <= 3000)
  t.equal(result.content[0].text + (await readAll(app, result)).pieces.join(''), 'word '.repeat(5000))
  t.match((await call(app, 'b', {})).result, { isError: true }, 'a tool may refuse what is still too large')
})

t.test('a wrong limit is a problem of the catalog', async (t) => {
  for (const value of [
    "{ max: 1999, then: 'cut' }", "{ max: 5000, then: 'drop' }", "{ then: 'cut' }", "'cut'", '1'
  ]) {
    const files = { 'tools/a.ts': toolModule('a', `limits: { resultBytes: ${value} }`) }
    await t.rejects(buildApp(t, files), /limits\.resultBytes/, value)
  }
})

t.test('a stranger, and a caller without the scopes of the tool, read nothing', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const { result } = await call(app, 'hidden', { text: 'word ', times: 5000 }, 'ann s')
  const cursor = cursorOf(result)
  t.notOk((await call(app, 'read_more', { cursor }, 'ann s')).result.isError)
  for (const authorization of ['bob s', 'ann']) {
    const { result } = await call(app, 'read_more', { cursor }, authorization)
    t.match(result, { isError: true, content: [{ text: /^There is no remainder/ }] })
  }
  const beyond = String(cursor).replace(/\.0$/, '.99999999')
  for (const wrong of ['', 'x', 'more_AAAAAAAAAAAAAAAAAAAAAA.0', `${cursor}x`, '../../etc', beyond]) {
    const { result } = await call(app, 'read_more', { cursor: wrong }, 'ann s')
    t.match(result, { isError: true, content: [{ text: /^There is no remainder/ }] }, wrong)
  }
})

t.test('a remainder is kept for an hour', async (t) => {
  let now = Date.now()
  const catalog = await writeCatalog(t, FILES)
  const options = { catalog, ...QUIET, authenticator }
  const { app } = await createService(options, undefined, { clock: { now: () => now } })
  t.teardown(async () => await app.close())
  const long = { text: 'word ', times: 2000 }
  const { result } = await call(app, 'words', long)
  now += 3_500_000
  t.notOk((await call(app, 'read_more', { cursor: cursorOf(result) })).result.isError)
  now += 200_000
  t.match((await call(app, 'read_more', { cursor: cursorOf(result) })).result, {
    isError: true, content: [{ text: /It has expired/ }]
  }, 'reading does not extend it')
})

t.test('the handles of a caller take no room of its remainders', async (t) => {
  const app = await buildApp(t, {
    ...FILES,
    'tools/note.ts': `
      import { defineHandle, defineTool } from 'trivet'
      export const notes = defineHandle({ kind: 'note', prefix: 'not', schema: {}, idleTtlMs: 60_000 })
      export default defineTool({
        name: 'note', description: 'A tool.', run: async (_, ctx) => (await ctx.handles(notes).create({})).id
      })`
  })
  for (let index = 0; index < 150; index++) t.notOk((await call(app, 'note', {})).result.isError)
  t.ok(cursorOf((await call(app, 'words', { text: 'word ', times: 2000 })).result))
})

t.test('the text of an error is cut too', async (t) => {
  const run = `({ late, blocks }) => {
    const text = 'word '.repeat(5000)
    const error = blocks ? new ToolError('No.', { content: [{ type: 'text', text }] }) : new ToolError(text)
    if (late) return Promise.reject(error)
    throw error
  }`
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', `inputSchema: { type: 'object' }, ${CUT}`, run),
    'tools/b.ts': toolModule('b', CUT, "() => toolResult({ isError: true, content: [{ type: 'text', " +
      "text: 'word '.repeat(5000) }] })")
  })
  for (const args of [{}, { late: true }, { blocks: true }, undefined]) {
    const { result, bytes } = await call(app, args === undefined ? 'b' : 'a', args ?? {})
    t.ok(result.isError)
    t.ok(bytes <= MAX_BYTES)
    t.equal(result.content.at(-2).text + (await readAll(app, result)).pieces.join(''), 'word '.repeat(5000))
  }
})

t.test('each revision gets cut results', async (t) => {
  const app = await buildApp(t, FILES)
  const url = await listen(app)
  for (const revision of LEGACY_REVISIONS) {
    const session = await openSession(t, url, { revision })
    for (const [name, args] of [['lines', { count: 500 }], ['rows', { count: 500 }]] as const) {
      const { result } = await session.call(name, args)
      t.ok(Buffer.byteLength(JSON.stringify(result)) <= MAX_BYTES, `${name} at ${revision}`)
      const more = (await session.call('read_more', { cursor: cursorOf(result) })).result
      t.match(more.content, [{ type: 'text', text: /\w/ }, { type: 'text', text: /There is more/ }])
    }
  }
})

t.test('the largest result takes bounded time', async (t) => {
  const app = await buildApp(t, FILES)
  await call(app, 'words', { text: 'warm ', times: 5000 })
  for (const [name, args] of [
    ['words', { text: 'a b. ', times: 800_000 }], ['rows', { count: 40_000 }]
  ] as const) {
    const before = process.cpuUsage()
    const { result } = await call(app, name, args)
    const { user, system } = process.cpuUsage(before)
    t.ok(cursorOf(result), name)
    t.ok(user + system < 3_000_000, `${name}: ${user + system} µs`)
    t.comment(`${name}: ${user + system} µs`)
  }
})

t.test('the result of a task is cut too', async (t) => {
  const run = "async (_, ctx) => await ctx.step('a', () => 'word '.repeat(5000))"
  const options = `${CUT}, task: 'required'`
  const { app, time } = await serveInVirtualTime(t, {
    works: [options, run], fails: [options, "async () => { throw new ToolError('word '.repeat(5000)) }"]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('works', {})
  const { result } = await client.until(taskId, 'completed')
  const failed = await client.until((await client.call('fails', {})).taskId, 'completed')
  t.ok(failed.result.isError)
  t.match(failed.result.content[1].text, /^The result is too large and was cut/)
  t.match(result.content[1].text, /^The result is too large and was cut/)
  const [, cursor] = /cursor: "([^"]+)"/.exec(result.content[1].text) ?? []
  const { response } = await send(app, {
    method: 'tools/call', params: { name: 'read_more', arguments: { cursor } }
  })
  t.match(response.result.content, [{ text: /^word / }, { text: /^There is more/ }])
})

t.test('a call that is continued has a cut result, with one remainder for all that read it', async (t) => {
  const run = `async (_, ctx) => await ctx.step('a', async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    return 'word '.repeat(5000)
  })`
  const files = { 'tools/slow.ts': toolModule('slow', `${CUT}, task: 'allowed'`, run) }
  const app = await buildApp(t, files, { taskWaitMs: 100, constants: { taskGraceMs: 10 } })
  const idOf = ({ content: [{ text }] }: Message) => /continue_call with call: "([^"]+)"/.exec(text)?.[1]
  let { result } = await call(app, 'slow', {})
  let id = idOf(result)
  t.ok(id)
  for (let next = id; next !== undefined; next = idOf(result)) {
    id = next
    result = (await call(app, 'continue_call', { call: id })).result
  }
  t.equal(result.content[0].text + (await readAll(app, result)).pieces.join(''), 'word '.repeat(5000))
  t.strictSame((await call(app, 'continue_call', { call: id })).result, result)
})

t.test('the first answer of a repeated call has the same cursor', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule(
      'a', `${CUT}, dedupe: true, annotations: { idempotentHint: true }`, "() => 'word '.repeat(5000)"
    )
  })
  const repeated = async () => cursorOf((await send(app, {
    method: 'tools/call', params: { name: 'a', arguments: {} }, headers: { 'idempotency-key': 'one' }
  })).response.result)
  const cursor = await repeated()
  t.ok(cursor)
  t.equal(await repeated(), cursor)
})
