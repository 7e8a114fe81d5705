import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createService, type AppOptions } from '../../../src/app/app.ts'
import { replaceTime } from '../../../src/base/time.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { serveLocally } from '../../helpers/local-server.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { open } from '../../programs/testing/open.ts'
import { call, FILES, NAMES, pageIn, toForm } from './file-tools.ts'

const ACCEPTED = { inputResponses: { upload: { action: 'accept' } } }

type Form = Awaited<ReturnType<typeof toForm>>

async function build (t: Test, options: AppOptions = {}) {
  const folder = await makeFolder(t)
  const urls = { publicUrl: 'http://localhost/mcp', filesUrl: `file:${folder}` }
  const app = await buildApp(t, FILES, { ...urls, ...options })
  const visit = async (url: string, headers = {}) => await app.inject({ url: new URL(url).pathname, headers })
  const post = async (url: string, { payload, headers }: Form, more = {}) => await app.inject({
    method: 'POST', url: new URL(url).pathname, payload, headers: { ...headers, ...more }
  })
  const ask = async (args: object = {}, as?: string) => {
    const asked = await call(app, 'take', args, as === undefined ? {} : { as })
    return { url: pageIn(asked), requestState: asked.result?.requestState ?? asked.requestState }
  }
  return { app, folder, visit, post, ask }
}

t.test('the page is plain HTML that loads and runs nothing', async (t) => {
  const { visit, ask } = await build(t, { authenticator: NAMES })
  const options = { message: 'A <b>file</b>', accept: ['image/*', '.csv'], maxBytes: 5000 }
  const { url } = await ask(options, 'ada&co')
  const { statusCode, headers, body } = await visit(url)
  t.equal(statusCode, 200)
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'same-origin',
    'content-security-policy': /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-anc/
  })
  t.match(body, 'A &lt;b&gt;file&lt;/b&gt;')
  t.match(body, 'The file goes to the account <strong>ada&amp;co</strong>.', 'phishing needs another account')
  t.match(body, '<form method="post" enctype="multipart/form-data">')
  t.match(body, 'accept="image/*,.csv"')
  t.match(body, 'Pictures or CSV files, up to 5 kB.')
  t.notMatch(body, /<script/)
})

t.test('the URL tells nothing of the user (229)', async (t) => {
  const { ask } = await build(t, { authenticator: NAMES })
  const { url } = await ask({}, 'ada@example.com')
  const sealed = url.replace(/^.*\/files\//, '')
  t.notMatch(Buffer.from(sealed.split('.')[1] ?? '', 'base64url').toString('latin1'), 'ada')
})

t.test('the file of the form reaches the handler, which runs again', async (t) => {
  const { app, post, ask } = await build(t)
  const { url, requestState } = await ask()
  const { statusCode, body } = await post(url, await toForm('..\\a/Ü.csv', 'a,b\n', 'text/csv'))
  t.strictSame([statusCode, /File received/.test(body)], [200, true])
  const { structuredContent } = await call(app, 'take', {}, { more: { requestState, ...ACCEPTED } })
  t.strictSame(structuredContent, { name: 'Ü.csv', mimeType: 'text/csv', size: 4, bytes: 4, head: 'a,b\n' })
})

t.test('a link takes one file', async (t) => {
  const { app, folder, visit, post, ask } = await build(t)
  const { url, requestState } = await ask()
  const send = async (text: string) => await post(url, await toForm('a.txt', text))
  const both = await Promise.all(['one', 'two'].map(send))
  t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 409], 'also of two at the same time')
  const third = await post(url, await toForm('a.txt', 'three'))
  t.strictSame([third.statusCode, (await visit(url)).statusCode], [409, 409])
  t.match(third.body, 'A file has been sent by this link already.')
  t.equal((await readdir(folder)).length, 1)
  const taken = both.findIndex(({ statusCode }) => statusCode === 200)
  t.match(await call(app, 'take', {}, { more: { requestState, ...ACCEPTED } }), {
    structuredContent: { head: ['one', 'two'][taken] }
  })
})

t.test('decline and cancel are answers (224)', async (t) => {
  const { app, ask } = await build(t)
  const { requestState } = await ask()
  for (const action of ['decline', 'cancel']) {
    const inputResponses = { upload: { action } }
    const more = { requestState, inputResponses }
    t.match(await call(app, 'take', {}, { more }), { content: [{ text: action }] })
  }
})

t.test('a client without URL elicitation is not asked (212)', async (t) => {
  const { app } = await build(t)
  const { response } = await send(app, {
    method: 'tools/call',
    params: { name: 'take', arguments: {} },
    meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  })
  t.match(response.error, { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } })
})

t.test('a file of another type, a large one, no file and no form are refused with reasons', async (t) => {
  const { folder, post, ask } = await build(t)
  const { url } = await ask({ accept: ['text/*', '.json'], maxBytes: 1000 })
  const form = await toForm('a.txt', 'x')
  const cases: ReadonlyArray<readonly [Form, number, string]> = [
    [await toForm('a.png', 'x', 'image/png'), 415, 'What is asked for: Text files or JSON files.'],
    [await toForm('a.txt', 'x'.repeat(1001)), 413, 'The file is larger than 1 kB'],
    [await toForm('a.txt', 'x'.repeat(200_000)), 413, 'The file is larger than 1 kB'],
    [await toForm('', ''), 400, 'Choose a file first.'],
    [{ ...form, headers: { 'content-type': 'text/plain' } }, 415, 'Send the file with the form'],
    [{ ...form, headers: { 'content-type': `multipart/form-data; boundary=${'x'.repeat(300)}` } }, 415, 'Send'],
    [{ ...form, headers: { 'content-type': `multipart/form-data; boundary=${'x'.repeat(71)}` } }, 400, 'The file'],
    [{ ...form, payload: Buffer.from('no form') }, 400, 'The file did not arrive as a whole']
  ]
  for (const [form, status, text] of cases) {
    const { statusCode, body } = await post(url, form)
    t.strictSame([statusCode, body.includes(text)], [status, true], text)
  }
  t.strictSame(await readdir(folder), [])
  t.equal((await post(url, await toForm('A.JSON', '{}', ''))).statusCode, 200, 'and the link still works')
})

t.test('what the owner may keep counts for uploads too', async (t) => {
  const { folder, post, ask } = await build(t, { maxFileBytesPerCaller: 1024 })
  const { url } = await ask()
  const { statusCode, body } = await post(url, await toForm('a.txt', 'x'.repeat(1500)))
  t.strictSame([statusCode, body.includes('The limit of files is reached')], [507, true])
  t.strictSame(await readdir(folder), [])
})

t.test('a page of another origin cannot send the form, the own page can', async (t) => {
  const { post, ask } = await build(t, { publicUrl: 'https://mcp.example.com/mcp', allowedHosts: ['mcp.example.com'] })
  const { url } = await ask()
  const host = 'mcp.example.com'
  t.equal((await post(url, await toForm('a.txt', 'x'), { host, origin: 'https://evil.example.com' })).statusCode, 403)
  t.equal((await post(url, await toForm('a.txt', 'x'), { host, origin: 'https://mcp.example.com' })).statusCode, 200)
})

/** The request of a form that is sent piece by piece. */
function beginUpload ({ listeningOrigin }: FastifyInstance, url: string, { headers, payload }: Form) {
  const { port } = new URL(listeningOrigin)
  return httpRequest({
    port,
    host: '127.0.0.1',
    path: new URL(url).pathname,
    method: 'POST',
    headers: { ...headers, host: 'localhost', 'content-length': payload.length }
  })
}

t.test('an upload that breaks off leaves nothing, and may be tried again', async (t) => {
  const { app, folder, ask, post } = await build(t)
  await listen(app)
  const { url } = await ask()
  const form = await toForm('a.bin', Buffer.alloc(1_000_000))
  const { payload } = form
  const sending = beginUpload(app, url, form)
  sending.on('error', () => {})
  sending.write(payload.subarray(0, 500_000))
  while ((await readdir(folder)).length === 0) await pause(20)
  sending.destroy()
  for (let tries = 0; (await readdir(folder)).length > 0 && tries < 200; tries++) await pause(20)
  t.strictSame(await readdir(folder), [])
  // The turn is given back after the file is removed.
  let { statusCode } = await post(url, form)
  for (let tries = 0; statusCode !== 200 && tries < 50; tries++) {
    await pause(20)
    statusCode = (await post(url, form)).statusCode
  }
  t.equal(statusCode, 200)
})

t.test('an upload ends after half an hour, even if bytes come', async (t) => {
  const deadlines: Array<() => void> = []
  t.teardown(replaceTime({
    setTimeout (callback, ms) {
      if (ms === 1_800_000) deadlines.push(callback)
      return setTimeout(callback, ms)
    }
  }))
  const { app, folder, ask } = await build(t)
  await listen(app)
  const { url } = await ask()
  const form = await toForm('a.bin', Buffer.alloc(1_000_000))
  const sending = beginUpload(app, url, form)
  const ended = new Promise((resolve) => { sending.once('close', resolve) })
  sending.on('error', () => {})
  sending.write(form.payload.subarray(0, 500_000))
  while ((await readdir(folder)).length === 0) await pause(20)
  for (const end of deadlines) end()
  await ended
  for (let tries = 0; (await readdir(folder)).length > 0 && tries < 200; tries++) await pause(20)
  t.strictSame(await readdir(folder), [])
})

t.test('a client that cannot send more, because the storage takes nothing, gets the answer', async (t) => {
  const idleEnds: Array<() => void> = []
  const answers: Array<() => void> = []
  t.teardown(replaceTime({
    setTimeout (callback, ms) {
      if (ms === 60_000) idleEnds.push(callback)
      return setTimeout(callback, ms)
    }
  }))
  const port = await serveLocally(t, (request, response) => {
    request.resume().on('end', () => answers.push(() => response.writeHead(403).end()))
  })
  const { app, ask } = await build(t, {
    filesUrl: `s3://files?endpoint=http://127.0.0.1:${port}`,
    environment: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
  })
  await listen(app)
  const { url } = await ask()
  const form = await toForm('a.bin', Buffer.alloc(20_000_000))
  const sending = beginUpload(app, url, form)
  const answered = once(sending, 'response')
  sending.end(form.payload)
  await until(() => answers.length > 0, 'the first part')
  await pause(100)
  for (const end of idleEnds) end()
  await pause(100)
  for (const answer of answers) answer()
  const [answer] = await answered
  t.equal(answer.statusCode, 503)
  answer.resume()
})

t.test('what is beside the file of a form has an end too', async (t) => {
  const { app, folder, ask } = await build(t)
  await listen(app)
  const { url } = await ask({ maxBytes: 100_000 })
  const { port } = new URL(app.listeningOrigin)
  const sending = httpRequest({
    port,
    host: '127.0.0.1',
    path: new URL(url).pathname,
    method: 'POST',
    headers: { host: 'localhost', 'content-type': 'multipart/form-data; boundary=b' }
  })
  sending.on('error', () => {})
  const answered = once(sending, 'response')
  sending.write('--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n')
  const piece = Buffer.alloc(65_536, 'a')
  const writing = setInterval(() => { sending.write(piece) }, 1)
  t.teardown(() => clearInterval(writing))
  const [answer] = await within(answered, 'the answer')
  t.equal(answer.statusCode, 413)
  sending.destroy()
  t.strictSame(await readdir(folder), [])
})

t.test('while a file is being sent by a link, another one is refused before it is stored', async (t) => {
  const { app, folder, ask, post } = await build(t)
  await listen(app)
  const { url } = await ask()
  const form = await toForm('a.bin', Buffer.alloc(1_000_000))
  const sending = beginUpload(app, url, form)
  const answered = once(sending, 'response')
  sending.write(form.payload.subarray(0, 500_000))
  while ((await readdir(folder)).length === 0) await pause(20)
  const { statusCode, body } = await post(url, await toForm('b.txt', 'b'))
  t.strictSame([statusCode, body.includes('A file is being sent by this link.')], [409, true])
  t.equal((await readdir(folder)).length, 1)
  sending.end(form.payload.subarray(500_000))
  const [answer] = await answered
  t.equal(answer.statusCode, 200)
  answer.resume()
})

/** Keeps the timers that end the reading of a refused upload. The test runs them. */
function catchRefusals (t: Test): () => void {
  const deadlines: Array<() => void> = []
  t.teardown(replaceTime({
    setTimeout (callback, ms) {
      if (ms === 5000) deadlines.push(callback)
      return setTimeout(callback, ms)
    }
  }))
  return () => {
    for (const end of deadlines) end()
  }
}

t.test('a refused upload that is cut off later ends nothing but itself', async (t) => {
  const endReading = catchRefusals(t)
  const { app, folder, ask, post } = await build(t)
  await listen(app)
  const refuse = async (url: string, form: Form, sent: number) => {
    const sending = beginUpload(app, url, form)
    sending.on('error', () => {})
    sending.write(form.payload.subarray(0, sent))
    const [answer] = await once(sending, 'response')
    answer.resume()
    endReading()
    // An error that nobody catches ends the process, and comes in a later turn.
    await pause(20)
    sending.destroy()
    return answer.statusCode
  }
  const large = await toForm('a.png', Buffer.alloc(200_000), 'image/png')
  t.equal(await refuse((await ask({ accept: ['.pdf'] })).url, large, 150_000), 415, 'of a wrong type')
  t.equal(await refuse((await ask({ maxBytes: 150_000 })).url, large, 180_000), 413, 'too large')
  const nameless = await toForm('', Buffer.alloc(200_000), 'application/octet-stream')
  t.equal(await refuse((await ask()).url, nameless, 150_000), 400, 'without a file')
  const { url } = await ask()
  const first = beginUpload(app, url, large)
  const answered = once(first, 'response')
  first.write(large.payload.subarray(0, 100_000))
  while ((await readdir(folder)).length === 0) await pause(20)
  t.equal(await refuse(url, large, 150_000), 409, 'the second one of a link')
  first.end(large.payload.subarray(100_000))
  const [answer] = await answered
  answer.resume()
  t.equal(answer.statusCode, 200)
  t.equal((await post((await ask()).url, await toForm('a.txt', 'x'))).statusCode, 200)
})

t.test('a form without its last boundary is refused, and ends nothing but itself', async (t) => {
  const { folder, post, ask } = await build(t)
  const { url } = await ask({ accept: ['text/*'] })
  const cut = async (name: string, type: string) => {
    const { headers, payload } = await toForm(name, 'hello', type)
    return await post(url, { headers, payload: payload.subarray(0, payload.lastIndexOf('hello') + 5) })
  }
  const parts = [
    ['a.txt', 'text/plain'], ['a.png', 'image/png'], ['', 'application/octet-stream'], ['', '']
  ] as const
  for (const [name, type] of parts) {
    // The form or its file may be refused first.
    t.match((await cut(name, type)).statusCode, /^4(00|15)$/, `${name} ${type}`)
    // An error that nobody catches ends the process, and comes in a later turn.
    await pause(20)
  }
  t.strictSame(await readdir(folder), [])
  t.equal((await post(url, await toForm('a.txt', 'x'))).statusCode, 200, 'and the link still works')
})

t.test('after accept the handler waits for the file', async (t) => {
  const { app, post, ask } = await build(t, { requestTimeoutMs: 500 })
  const { url, requestState } = await ask()
  const answering = call(app, 'take', {}, { more: { requestState, ...ACCEPTED } })
  await pause(1500)
  await post(url, await toForm('a.txt', 'late'))
  t.match(await answering, { structuredContent: { head: 'late' } }, 'longer than its own time limit')
})

t.test('the handler hears of the file, and does not have to look for it', async (t) => {
  const { app, post, ask } = await build(t)
  const { url, requestState } = await ask()
  let beginPause = (): void => {}
  const paused = new Promise<void>((resolve) => { beginPause = resolve })
  t.teardown(replaceTime({
    // Ends only by its signal.
    pause: async (_ms, { signal } = {}) => await new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      beginPause()
    })
  }))
  const answering = call(app, 'take', {}, { more: { requestState, ...ACCEPTED } })
  await paused
  await post(url, await toForm('a.txt', 'heard'))
  t.match(await answering, { structuredContent: { head: 'heard' } })
})

t.test('an upload whose link expired is cancelled, and its page is gone', async (t) => {
  let now = Date.now()
  const catalog = await writeCatalog(t, FILES)
  const options = { catalog, ...QUIET, publicUrl: 'http://localhost/mcp', requestStateTtlMs: 60_000 }
  const { app } = await createService(options, undefined, { clock: { now: () => now } })
  t.teardown(async () => await app.close())
  const asked = await call(app, 'take')
  now += 59_500
  const answering = call(app, 'take', {}, { more: { requestState: asked.requestState, ...ACCEPTED } })
  await pause(50)
  now += 1000
  t.match(await answering, { content: [{ text: 'cancel' }] })
  t.equal((await app.inject({ url: new URL(pageIn(asked)).pathname })).statusCode, 404)
})

t.test('the page of another user is not there for a token', async (t) => {
  const { visit, ask } = await build(t, { authenticator: NAMES })
  const { url } = await ask({}, 'ada')
  t.equal((await visit(url, { authorization: 'Bearer bob' })).statusCode, 404)
  t.equal((await visit(url, { authorization: 'Bearer ada' })).statusCode, 200)
})

t.test('with filesToken required, who sends the file must be who asked (230)', async (t) => {
  const { ask, visit, post } = await build(t, { authenticator: NAMES, filesToken: 'required' })
  const { url } = await ask({}, 'ada')
  t.equal((await visit(url)).statusCode, 401)
  t.equal((await post(url, await toForm('a.txt', 'x'), { authorization: 'Bearer bob' })).statusCode, 404)
  t.equal((await post(url, await toForm('a.txt', 'x'), { authorization: 'Bearer ada' })).statusCode, 200)
})

t.test('a client of an earlier revision is asked on the stream of its call (344, 356)', async (t) => {
  const { app, post } = await build(t)
  const capabilities = { elicitation: { form: {}, url: {} } }
  const session = await openSession(t, await listen(app), { capabilities })
  const calling = await session.startCall('take')
  const question = await calling.next()
  t.match(question, { method: 'elicitation/create', params: { mode: 'url', message: 'The file to read' } })
  const answering = session.answer(question.id, { action: 'accept' })
  await post(question.params.url, await toForm('a.txt', 'legacy'))
  await answering
  t.match(await calling.next(), { result: { content: [{ text: /"head":"legacy"/ }] } })
})

t.test('a task asks for its file, and gets it', async (t) => {
  const catalog = await open(t, FILES)
  const answers = { upload: { action: 'accept', file: { name: 'a.txt', bytes: 'task' } } } as const
  const task = await catalog.begin('take_in_task')
  t.match(await task.result({ answers }), { structuredContent: { head: 'task' } })
  t.equal((await task.get()).status, 'completed')
})

t.test('uploads may take longer than other requests, as long as bytes come', async (t) => {
  const { app, ask } = await build(t)
  await listen(app)
  // Node checks connections every five seconds.
  app.server.requestTimeout = 1000
  app.server.headersTimeout = 1000
  const { url } = await ask()
  const form = await toForm('a.txt', 'slow')
  const { payload } = form
  const sending = beginUpload(app, url, form)
  const answered = once(sending, 'response')
  for (const byte of payload.subarray(0, 8)) {
    sending.write(Buffer.of(byte))
    await pause(1000)
  }
  sending.end(payload.subarray(8))
  const [answer] = await answered
  t.equal(answer.statusCode, 200)
  answer.resume()
})
