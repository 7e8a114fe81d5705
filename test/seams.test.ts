// What a stranger can add: a method, a backend, an observer and a transport, each by one file or folder and
// one line, beside the import that the line needs.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { within } from './helpers/deadline.ts'
import { copyProject } from './helpers/project-copy.ts'
import { META, send, toPost, type Message } from './helpers/request.ts'

const METHOD = `import { Type } from 'typebox'
import { defineMethod } from '../dispatch/method.ts'

export const serverEcho = defineMethod({
  name: 'server/echo',
  params: Type.Object({ text: Type.String() }),
  open: ({ text }, { snapshot }) => ({
    subject: 'echo',
    handle: () => snapshot.writer.write(\`"text":\${JSON.stringify(text)}\`)
  })
})
`

const OBSERVER = `import type { Observer } from './observer.ts'

const counts = new Map<string, number>()
Object.assign(globalThis, { requestCounts: counts })

export const metrics: Observer = {
  end ({ method = 'unknown' }, { protocolError }) {
    const label = \`\${method} \${protocolError?.code ?? 'ok'}\`
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
}
`

const STDIO = `import { stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { ANONYMOUS } from '../access/principal.ts'
import type { Caller, Outlet, RequestLog } from '../dispatch/caller.ts'
import type { Pipeline } from '../dispatch/pipeline.ts'
import { readEnvelope } from '../protocol/envelope.ts'
import { isRequest, readMessage, toErrorResponse, toResultResponse, type Request } from '../protocol/json-rpc.ts'

export function serveStdio (pipeline: Pipeline, log: RequestLog): void {
  createInterface({ input: stdin }).on('line', (line) => {
    const message = readMessage(JSON.parse(line))
    if (isRequest(message)) pipeline.serve(message, toCaller(message, log), toOutlet(message))
  })
}

function toCaller ({ id, params }: Request, log: RequestLog): Caller {
  return { principal: ANONYMOUS, envelope: readEnvelope(params), requestId: String(id), log }
}

function toOutlet ({ id }: Request): Outlet {
  const write = (json: string | Buffer) => { stdout.write(\`\${String(json)}\\n\`) }
  return {
    outlasts () {},
    notify: write,
    succeed: (result) => write(toResultResponse(id, result)),
    fail: (error) => write(toErrorResponse(id, error)),
    leaveUnanswered () {},
    openStream: () => ({ send: write, end: (json) => json && write(json), keepAlive () {}, cut () {}, onDrain () {}, onClose () {}, isBlocked: false })
  }
}
`

const FILES = {
  'tools/hello.ts': toolModule('hello'),
  'tools/speaks.ts': toolModule(
    'speaks', '', 'async (_, ctx) => { ctx.progress(1); await null; return "done" }'
  )
}

/** Starts the app of a copy in a process of its own, and asks it over standard input. */
function askOverStdio (
  t: Test, app: string, catalog: string, messages: readonly object[]
): AsyncIterable<string> {
  const source = `import { createApp } from ${JSON.stringify(app)}
    await createApp({ catalog: ${JSON.stringify(catalog)}, watch: 'off', logLevel: 'silent', stateUrl: 'memory:' })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => { child.kill() })
  child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  return createInterface({ input: child.stdout })
}

t.test('a stranger adds', async (t) => {
  const copy = await copyProject(t)
  await copy.add('methods/server-echo.ts', METHOD)
  await copy.insert(
    'methods/method-list.ts', /^import \{ serverDiscover/, "import { serverEcho } from './server-echo.ts'"
  )
  await copy.insert('methods/method-list.ts', /^ {4}serverDiscover\(/, '    serverEcho,')
  await copy.add('dispatch/metrics.ts', OBSERVER)
  await copy.insert(
    'app.ts', /^import \{ createLogObserver/, "import { metrics } from './dispatch/metrics.ts'"
  )
  await copy.insert('app.ts', /^ +const observer = joinObservers\(\[/, '    metrics,')
  await copy.add('stdio/stdio.ts', STDIO)
  await copy.insert('app.ts', /^import \{ createPipeline/, "import { serveStdio } from './stdio/stdio.ts'")
  await copy.insert('app.ts', /^ +const eras: Era\[\] =/, '  serveStdio(pipeline, log)')
  t.equal(await copy.build(), '', 'and all of it compiles')
  const app = await copy.start(t, FILES)

  t.test('a method', async (t) => {
    const ask = async (params: { readonly [key: string]: unknown }): Promise<Message> =>
      (await app.inject({ method: 'POST', url: '/mcp', ...toPost({ method: 'server/echo', params }) })).json()
    t.match((await ask({ text: 'again' })).result, { resultType: 'complete', text: 'again' })
    t.equal((await ask({})).error.code, -32602)
  })

  t.test('an observer', async (t) => {
    const { requestCounts } = globalThis as unknown as { requestCounts: Map<string, number> }
    requestCounts.clear()
    for (const name of ['hello', 'hello', 'none']) await send(app, { method: 'tools/call', params: { name } })
    await send(app, { method: 'tools/list' })
    await send(app, { method: 'no/method' })
    t.strictSame(Object.fromEntries(requestCounts), {
      'tools/call ok': 2, 'tools/call -32602': 1, 'tools/list ok': 1, 'unknown -32601': 1
    })
  })

  t.test('a transport', async (t) => {
    t.ok(STDIO.trimEnd().split('\n').filter((line) => !line.startsWith('import') && line !== '').length <= 30)
    const messages = [
      { method: 'tools/call', params: { name: 'hello', arguments: {} } },
      { method: 'tools/call', params: { name: 'speaks', arguments: {}, _meta: { progressToken: 'p' } } },
      { method: 'tools/call', params: { name: 'none' } },
      { method: 'tools/list' }
    ].map(
      ({ method, params = {} }, id) => ({
        jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...Object(params)._meta } }
      })
    )
    const answers: Message[] = []
    const reading = (async () => {
      for await (
        const line of askOverStdio(t, copy.urlOf('app.ts'), await writeCatalog(t, FILES), messages)
      ) {
        answers.push(JSON.parse(line))
        if (answers.filter((answer) => 'id' in answer).length === messages.length) break
      }
    })()
    await within(reading, 'the answers', 30_000)
    const byId = (id: number) => answers.find((answer) => answer.id === id)
    t.match(byId(0), { result: { content: [{ text: 'ok' }] } })
    t.match(byId(1), { result: { content: [{ text: 'done' }] } })
    t.match(answers.find(({ method }) => method === 'notifications/progress'), {
      params: { progressToken: 'p', progress: 1 }
    })
    t.match(byId(2), { error: { code: -32602 } })
    t.match(byId(3), { result: { tools: [{ name: 'hello' }, { name: 'speaks' }] } })
  })
})
