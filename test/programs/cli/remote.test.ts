// `trivet call` and `trivet list` on the URL of a service.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const ASKS = `
import { defineTool, elicit } from 'trivet'
const schema = { type: 'object', properties: { size: { type: 'string' } } }
export default defineTool({ name: 'asks', description: 'Asks.', run: async (_, ctx) => {
  const { size } = await ctx.ask({ size: elicit.form({ message: 'Which size?', schema }) })
  return size.content.size
} })
`
const REGION = "{ type: 'string', 'x-mcp-header': 'Region' }"
const MIRRORED = `inputSchema: { type: 'object', properties: { region: ${REGION} } }`
const SAYS = "(_, ctx) => { ctx.progress(1, 2, 'half'); ctx.log.info('a line'); return 'done' }"
const RELAYS = `async (_, ctx) => {
  const schema = { type: 'object', properties: { size: { type: 'string' } } }
  return (await ctx.ask({ size: elicit.form({ message: 'Which size?', schema }) })).size.action
}`
const FILES = {
  'tools/echo.ts': toolModule(
    'echo', "inputSchema: { type: 'object', properties: { text: { type: 'string' } } }", '(args) => args'
  ),
  'tools/says.ts': toolModule('says', '', SAYS),
  'tools/fails.ts': toolModule('fails', '', "() => { throw new ToolError('no such thing') }"),
  'tools/breaks.ts': toolModule('breaks', '', "() => { throw new Error('inside') }"),
  'tools/mirrors.ts': toolModule('mirrors', MIRRORED, '({ region }) => region'),
  'tools/asks.ts': ASKS,
  'tools/relays.ts': `import { elicit } from 'trivet'\n${toolModule('relays', 'relayQuestions: true', RELAYS)}`,
  'tools/lasts.ts': toolModule('lasts', "task: 'required'", '() => "after a while"'),
  'prompts/p.md': '---\ndescription: A prompt.\n---\nHello.\n'
}

const url = await listen(await buildApp(t, FILES))
const call = async (...args: string[]) => {
  const { out, err, exitCode } = await runProgram(['call', url, ...args])
  return { out, err, exitCode }
}

t.test('a tool is called, with its progress and its messages on standard error', async (t) => {
  t.strictSame(await call('says'), {
    out: 'done\n', err: 'progress 1 of 2: half\ninfo: a line\n', exitCode: 0
  })
  t.strictSame(JSON.parse((await call('echo', 'text=1')).out), { text: '1' })
  t.match(JSON.parse((await call('says', '--json')).out), {
    isError: false, text: 'done', progress: [{ progress: 1 }], logs: [{ level: 'info', message: 'a line' }]
  })
})

t.test('a call that becomes a task is followed to its end', async (t) => {
  t.strictSame(await call('lasts'), { out: 'after a while\n', err: '', exitCode: 0 })
})

t.test('arguments are mirrored in headers where the list says so', async (t) => {
  t.equal((await call('mirrors', 'region=Zürich')).out, 'Zürich\n')
  t.equal((await call('mirrors', 'region=eu')).out, 'eu\n')
})

t.test('a question is answered by a flag, or at the terminal', async (t) => {
  t.equal((await call('asks', '--answer', 'size={"size":"large"}')).out, 'large\n')
  t.equal((await runProgram(['call', url, 'asks'], {}, ['small'])).out, 'small\n')
  t.match(await call('asks'), { exitCode: 2, err: /Answer it at a terminal, or with --answer/ })
  t.strictSame(await call('relays', '--answer', 'size=cancel'), { out: 'cancel\n', err: '', exitCode: 0 })
})

t.test('a tool error and an error of the service end with 1, misuse with 2', async (t) => {
  t.strictSame(await call('fails'), { out: 'The tool failed: no such thing\n', err: '', exitCode: 1 })
  t.strictSame(await call('breaks'), { out: '', err: 'Internal error\n', exitCode: 1 })
  t.match(await call('nothing'), { exitCode: 1, err: /Tool nothing not found/ })
  t.match(await call(), { exitCode: 2, err: /^name a tool: `npx trivet list http/ })
  t.match(await call('echo', '--subject', 'ada'), { exitCode: 2, err: /^--subject is for a folder/ })
})

t.test('the lists are those of the service', async (t) => {
  const { out, exitCode } = await runProgram(['list', url])
  t.equal(exitCode, 0)
  t.match(out, /^Tools\n {2}asks {2,}Asks\.\n[^]*\nPrompts\n {2}p {2}A prompt\.\n/)
  const lists = JSON.parse((await runProgram(['list', url, '--json'])).out)
  t.strictSame(
    Object.keys(lists).sort(), ['prompts', 'resourceTemplates', 'resources', 'skills', 'tools']
  )
  t.equal(lists.tools.length, 9, 'with that which continues calls')
})

t.test('the token comes from a flag, a file or a variable, and is never shown', async (t) => {
  const tokens = t.testdir({})
  const { out, err } = await runProgram(['token', '--subject', 'ci', '--scopes', 'a'])
  const token = err.split('\n')[0] ?? ''
  await writeFile(join(tokens, 'tokens.yaml'), out)
  await writeFile(join(tokens, 'token'), `${token}\n`)
  const guarded = await listen(await buildApp(t, {
    'tools/who.ts': toolModule('who', "scopes: ['a']", '(_, { principal }) => principal.subject')
  }, { auth: ['tokens'], authTokens: join(tokens, 'tokens.yaml') }))
  const who = async (flags: readonly string[], environment = {}) => (
    await runProgram(['call', guarded, 'who', ...flags], environment)
  )
  t.equal((await who(['--token', token])).out, 'ci\n')
  t.equal((await who(['--token-file', join(tokens, 'token')])).out, 'ci\n')
  t.equal((await who([], { TRIVET_TOKEN: token })).out, 'ci\n')
  t.equal((await who(['--header', `Authorization: Bearer ${token}`])).out, 'ci\n')
  const { err: refusal, exitCode } = await who([])
  t.match(refusal, /answers 401.*; give a valid access token with --token-file or TRIVET_TOKEN\n$/)
  t.equal(exitCode, 1)
  for (const wrong of [
    ['--token', `${token}x`], ['--token', `${token} x`], ['--header', `${token}: a\nb`], ['--token-file', 'none']
  ]) {
    const ran = await who(wrong)
    t.ok(ran.exitCode > 0)
    if (wrong[0] === '--token') t.notMatch(ran.out + ran.err, token)
  }
})

/** A server that answers each request like this. */
async function answering (t: Test, status: number, headers: { [name: string]: string }, body: string) {
  return await serving(t, (_, response) => { response.writeHead(status, headers).end(body) })
}

async function serving (t: Test, listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/mcp`
}

/** A port that nothing listens on. */
async function findFreePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

t.test('a service that cannot be used is one line that says what to do, and exit code 1', async (t) => {
  const free = await findFreePort()
  const html = { 'content-type': 'text/html' }
  const cases: ReadonlyArray<readonly [url: string, message: RegExp]> = [
    [`http://127.0.0.1:${free}/mcp`, /nothing listens there; start the service, or correct the URL \(ECONNREFUSED\)/],
    ['http://nowhere.invalid/mcp', /\((?:ENOTFOUND|EAI_AGAIN)\)/],
    [await answering(t, 200, html, '<p>'), /has no JSON-RPC response; is it an MCP endpoint\?/],
    [await answering(t, 404, html, '<p>'), /answers 404; name the path of its MCP endpoint, such as \/mcp/],
    [await answering(t, 503, html, '<p>'), /answers 503$/m],
    [await answering(t, 307, { location: 'http://other/' }, ''), /answers 307; use the URL that it redirects to/]
  ]
  for (const [url, message] of cases) {
    const { out, err, exitCode } = await runProgram(['list', url])
    t.match(err, message)
    t.strictSame([out, exitCode, err.split('\n').length], ['', 1, 2], err)
    const { error } = JSON.parse((await runProgram(['list', url, '--json'])).out)
    t.match(error, { code: 'connection', exitCode: 1 })
  }
})

t.test('an answer that MCP does not allow is one line, and no stack', async (t) => {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  const content = '"content":[{"type":"text","text":"a"}]'
  const lists = '"tools":[],"prompts":[],"resources":[],"resourceTemplates":[],"skills":[]'
  const cases: ReadonlyArray<readonly [result: string, args: readonly string[], message: RegExp]> = [
    [`${lists},${content},"structuredContent":${deep}`, ['call', 'URL', 'x'], /its answer is nested too deep/],
    [`${lists},${content},"structuredContent":${deep}`, ['call', '--json', 'URL', 'x'], /nested too deep/],
    [`${lists},"structuredContent":{}`, ['call', 'URL', 'x'], /a part of it is missing, or of another type/],
    ['"content":[]', ['call', 'URL', 'x'], /a part of it is missing/],
    ['"content":[]', ['list', 'URL'], /a part of it is missing/],
    [lists.replace('[]', `[{"name":"x","inputSchema":${deep}}]`), ['list', '--json', 'URL'], /nested too deep/],
    ['"tools":{}', ['diff', 'URL', 'URL'], /a part of it is missing/]
  ]
  for (const [result, args, message] of cases) {
    const url = await serving(t, (request, response) => {
      json(request).then((body) => {
        response.setHeader('content-type', 'application/json')
        const { id = null } = body as { id?: unknown }
        response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete",${result}}}`)
      }, () => response.destroy())
    })
    const { out, err, exitCode } = await runProgram(args.map((arg) => arg === 'URL' ? url : arg))
    t.match(out + err, message)
    t.notMatch(out + err, /\n +at /)
    t.equal(exitCode, 1)
  }
})
