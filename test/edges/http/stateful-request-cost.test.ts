// What one request that needs more than itself may cost: on tasks and files, streams, repeated calls. What it
// acts on is as large as it may be.

import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import {
  call as callFiles, FILES as FILE_TOOLS, linkIn, pageIn, toForm
} from '../../features/files/file-tools.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import {
  checkCosts, countStoreUse, LARGE, posted, UNLIMITED, type CostlyRequest, type StoreUse
} from '../../helpers/request-cost.ts'
import { toPost, type RequestParts } from '../../helpers/request.ts'
import { openStream } from '../../helpers/stream.ts'
import { TaskClient, TASKS, toFiles } from '../../features/tasks/task-client.ts'

/** A task keeps no result that is larger. */
const RESULT = 900_000
const SCHEMA = "{ type: 'object', properties: { a: { type: 'string' } } }"
/** A question before the first step would be asked on the call itself. */
const ASKS = `async (_, ctx) => {
  await ctx.once('begin', () => 1)
  return (await ctx.ask({ a: elicit.form({ message: 'Who?', schema: ${SCHEMA} }) })).a.action
}`
const DEDUPE = "annotations: { idempotentHint: true }, dedupe: true, inputSchema: { type: 'object' }"

const FILES = {
  ...toFiles({
    large: ["task: 'required'", `() => 'x'.repeat(${RESULT})`],
    small: ["task: 'required'", "() => 'x'.repeat(10_000)"],
    asks: ["task: 'required'", ASKS],
    sleeps: ["task: 'required'", 'async (_, ctx) => { await ctx.sleep(60_000) }']
  }),
  'tools/repeats.ts': toolModule('repeats', DEDUPE, "() => 'x'.repeat(60_000)"),
  ...FILE_TOOLS,
  'prompts/city.prompt.ts': `import { definePrompt } from 'trivet'
const cities = Array.from({ length: 20_000 }, (_, i) => 'city ' + i)
export default definePrompt({
  name: 'city',
  arguments: [{ name: 'fixed', complete: cities }, { name: 'computed', complete: () => cities }],
  render: () => 'a'
})`,
  ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`resources/${i}.txt`, 'x']))
}

interface Fixture { readonly app: FastifyInstance, readonly url: string, readonly use: StoreUse }

async function start (t: Test): Promise<Fixture> {
  const use = countStoreUse(t)
  const filesUrl = `file:${await makeFolder(t)}`
  const app = await buildApp(t, FILES, { maxCallsPerCaller: 'off', filesUrl, constants: UNLIMITED })
  return { app, use, url: await listen(app) }
}

const CAPABILITIES = { ...TASKS, elicitation: { form: {}, url: {} } }
const meta = { 'io.modelcontextprotocol/clientCapabilities': CAPABILITIES }
const UNKNOWN = 'task_0000000000000000000000'
const members = (count: number, value: unknown = 1) => Object.fromEntries(
  Array.from({ length: count }, (_, i) => [`key ${i}`, value])
)

t.test('no request on a task costs more than its limit', async (t) => {
  const { app, use, url } = await start(t)
  const client = new TaskClient(app, { capabilities: CAPABILITIES })
  const begin = async (tool: string, status: string): Promise<string> => {
    const { taskId } = await client.call(tool)
    await client.until(taskId, status)
    return taskId
  }
  const request = (kind: string, method: string, params: object, more: Partial<CostlyRequest>) => ({
    ...posted(app, kind, toPost({ method, params: { ...params }, meta })), ...more
  })
  /** The request acts on another task each time. */
  function onFresh (
    kind: string, [tool, status]: readonly [string, string], method: string, params: object,
    more: Partial<CostlyRequest>
  ): CostlyRequest {
    let taskId = ''
    const parts = (): RequestParts => ({ method, params: { taskId, ...params }, meta })
    return {
      kind,
      body: toPost(parts()).body,
      prepare: async () => { taskId = await begin(tool, status) },
      send: async () => await posted(app, kind, toPost(parts())).send(),
      ...more
    }
  }
  const large = await begin('large', 'completed')
  const [asking, sleeping] = [await begin('asks', 'input_required'), await begin('sleeps', 'working')]
  const several = async (tool: string, count: number) => {
    const ids: string[] = []
    for (let i = 0; i < count; i++) ids.push(await begin(tool, 'completed'))
    return ids
  }
  const [hundred, ten] = [await several('small', 100), await several('large', 10)]
  const follow = (kind: string, taskIds: readonly string[], more: Partial<CostlyRequest>): CostlyRequest => ({
    kind,
    async send () {
      const stream = await openStream(t, url, {
        method: 'subscriptions/listen', params: { notifications: { taskIds } }, meta
      })
      for (let i = 0; i <= taskIds.length; i++) await stream.next(20_000)
      stream.close()
      return { status: stream.status, bytes: JSON.stringify(stream.messages).length }
    },
    ...more
  })
  await checkCosts(t, use, [
    request('tasks/get: a result of 900 KB', 'tasks/get', { taskId: large }, { reads: 1 }),
    request('tasks/get: a task that asks', 'tasks/get', { taskId: asking }, { reads: 1 }),
    request('tasks/get: an unknown task', 'tasks/get', { taskId: UNKNOWN }, { reads: 1 }),
    request('tasks/cancel: a task with a result of 900 KB', 'tasks/cancel', { taskId: large }, {
      // Written once more: the first write may not be durable.
      reads: 1, writes: 1
    }),
    request('tasks/update: 20,000 answers that nobody asked for', 'tasks/update', {
      taskId: asking, inputResponses: members(20_000, { action: 'accept' })
    }, { reads: 1, writes: 1 }),
    request('tasks/update: an answer to a task that sleeps', 'tasks/update', {
      taskId: sleeping, inputResponses: { a: { action: 'accept', content: {} } }
    }, { reads: 1, writes: 1 }),
    request('tasks/update: an answer that is too large', 'tasks/update', {
      taskId: asking, inputResponses: { a: { action: 'accept', content: { a: 'x'.repeat(RESULT) } } }
    }, { reads: 1 }),
    onFresh('tasks/update: an answer of 200 KB', ['asks', 'input_required'], 'tasks/update', {
      inputResponses: { a: { action: 'accept', content: { a: 'x'.repeat(200_000) } } }
    }, { reads: 3, writes: 4 }),
    onFresh('tasks/cancel: a task that sleeps', ['sleeps', 'working'], 'tasks/cancel', {}, {
      reads: 3, writes: 2
    }),
    request('tools/call: a task begins', 'tools/call', { name: 'small' }, { reads: 3, writes: 5 }),
    follow('subscriptions/listen: 100 tasks of 10 KB', hundred, { reads: 200, maxMs: 150 }),
    follow('subscriptions/listen: 10 tasks of 900 KB', ten, { reads: 20, maxMs: 300 }),
    {
      kind: 'subscriptions/listen: 20 at once on 10 tasks of 900 KB, unread',
      async send () {
        const streams = await Promise.all(Array.from({ length: 20 }, async () => {
          const params = { notifications: { taskIds: ten } }
          const stream = await openStream(t, url, { method: 'subscriptions/listen', params, meta })
          stream.pause()
          return stream
        }))
        for (const stream of streams) stream.close()
        return { status: streams[0]?.status ?? 0, bytes: 0 }
      },
      // Each stream looks for its tasks. Few read one.
      reads: 400,
      maxMs: 200
    }
  ])
})

t.test('no stream, completion or repeated call costs more than its limit', async (t) => {
  const { app, use, url } = await start(t)
  const uris = Array.from({ length: 100 }, (_, i) => `file:///${i}.txt`)
  const complete = (argument: string, value: string): RequestParts => ({
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'city' }, argument: { name: argument, value } }
  })
  const many = Array.from({ length: 20_000 }, (_, i) => `file:///${i}`)
  const text = 'x'.repeat(LARGE)
  let repeated = 0
  const call = (key: string): RequestParts => ({
    method: 'tools/call',
    params: { name: 'repeats', arguments: members(10_000) },
    headers: { 'idempotency-key': key }
  })
  await checkCosts(t, use, [
    {
      kind: 'subscriptions/listen: 100 resources',
      async send () {
        const notifications = { toolsListChanged: true, resourceSubscriptions: uris }
        const stream = await openStream(t, url, { method: 'subscriptions/listen', params: { notifications } })
        const opening = await stream.next()
        stream.close()
        return { status: stream.status, bytes: JSON.stringify(opening).length }
      }
    },
    posted(app, 'subscriptions/listen: too many resources', toPost({
      method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: many } }
    })),
    posted(app, 'completion/complete: 20,000 values', toPost(complete('fixed', '1'))),
    posted(app, 'completion/complete: 20,000 computed values', toPost(complete('computed', '1'))),
    posted(app, 'completion/complete: 20,000 values, a long text', toPost(complete('fixed', text))),
    {
      ...posted(app, 'tools/call: the first call of a key', toPost(call('first'))),
      send: async () => await posted(app, '', toPost(call(`key ${++repeated}`))).send(),
      reads: 2,
      writes: 2
    },
    {
      ...posted(app, 'tools/call: a repeated call of a key', toPost(call('again'))),
      prepare: async () => { await posted(app, '', toPost(call('again'))).send() },
      reads: 1,
      // It tries to keep its own answer first.
      writes: 2
    }
  ])
})

interface Visit {
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly url?: string
  readonly headers?: object
  readonly payload?: Buffer | Readable
}

function * chunksOf (bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

const HOSTILE_VISITS = {
  'many ranges': { range: `bytes=${'0-0,'.repeat(4000)}` },
  'ranges that meet': { range: `bytes=${Array.from({ length: 2000 }, (_, i) => `${i}-${2 * i}`).join()}` },
  'a range of many digits': { range: `bytes=0-${'9'.repeat(15_000)}` },
  'many entity tags': { 'if-none-match': 'W/"a", '.repeat(2000) },
  'a long condition': { 'if-range': '"a'.repeat(7000), range: 'bytes=0-1' }
}

const MIB = 1_048_576
const part = (disposition: string, more = '') => (
  `--x\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\nbytes\r\n--x--\r\n`
)

/** By what is hostile: the boundary, and the body. */
const HOSTILE_FORMS: { readonly [kind: string]: readonly [boundary: string, payload: string] } = {
  'a long boundary': ['-'.repeat(15_000), '-'.repeat(MIB)],
  'boundaries that almost match': ['x', '\r\n-'.repeat(MIB / 3)],
  'many fields': ['x', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\na\r\n'.repeat(15_000)],
  'a part of many headers': ['x', part('name="a"', 'A: b\r\n'.repeat(MIB / 6))],
  'a part of one long header': ['x', part('name="a"', `A: ${'b '.repeat(MIB / 2)}\r\n`)],
  'a part of many parameters': ['x', part(`name="a"${'; a=b'.repeat(MIB / 5)}`)],
  'a name of escapes': ['x', part(`name="file"; filename="${'\\"'.repeat(7000)}.txt"`)],
  'a name of many dots': ['x', part(`name="file"; filename="${'a.'.repeat(7000)}"`)],
  'a name of many folders': ['x', part(`name="file"; filename="${'a/'.repeat(7000)}a.txt"`)],
  'an encoded name': ['x', part(`name="file"; filename*=UTF-8''${'%C3%A9'.repeat(2500)}`)],
  'a type of many parameters': [
    'x', part('name="file"; filename="a"', `Content-Type: a/b${'; a="b"'.repeat(2000)}!\r\n`)
  ]
}

t.test('no request for a file costs more than its limit', async (t) => {
  const { app, use } = await start(t)
  const bytes = 5_000_000
  const link = linkIn(await callFiles(app, 'put', { bytes, name: 'a.bin' }))
  const { host, pathname } = new URL(link)
  const form = await toForm('a.bin', Buffer.alloc(bytes))
  const tooLong = { 'content-length': '5000000000' }
  let page = ''
  const ask = async () => { page = new URL(pageIn(await callFiles(app, 'take'))).pathname }
  function visit (kind: string, parts: () => Visit, more: Partial<CostlyRequest> = {}): CostlyRequest {
    return {
      kind,
      async send () {
        const { url = pathname, headers = {}, ...others } = parts()
        const { statusCode, rawPayload } = await app.inject({ url, headers: { host, ...headers }, ...others })
        return { status: statusCode, bytes: rawPayload.length }
      },
      ...more
    }
  }
  await checkCosts(t, use, [
    visit('GET of a file of 5 MB', () => ({})),
    visit('GET of its last byte', () => ({ headers: { range: `bytes=${bytes - 1}-` } })),
    visit('HEAD of a file of 5 MB', () => ({ method: 'HEAD' })),
    visit('GET of a link that does not exist', () => ({ url: `${pathname}${'x'.repeat(10_000)}` })),
    visit('GET of an upload page', () => ({ url: page }), { prepare: ask, reads: 1 }),
    visit('POST of a file of 5 MB', () => ({ method: 'POST', url: page, ...form }), {
      prepare: ask, reads: 8, writes: 6, maxMs: 150
    }),
    visit('POST of a file that is too large for its link', () => ({
      method: 'POST', url: page, headers: { ...form.headers, ...tooLong }, payload: Buffer.from('x')
    }), { prepare: ask, reads: 1 }),
    ...Object.entries(HOSTILE_VISITS).map(([kind, headers]) => visit(`GET of ${kind}`, () => ({ headers }))),
    visit('GET of a link with a long query', () => ({ url: `${pathname}?${'a=b&'.repeat(4000)}` })),
    ...Object.entries(HOSTILE_FORMS).map(([kind, [boundary, payload]]) => (
      visit(`POST of a form of ${kind}`, () => ({
        method: 'POST',
        url: page,
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        // In chunks, as from a connection.
        payload: Readable.from(chunksOf(Buffer.from(payload)))
      }), { prepare: ask, reads: 8, writes: 6 })
    ))
  ])
})
