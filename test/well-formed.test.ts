// Every text that a client gets is well-formed, whatever a handler or a client has made of it (1).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { cut } from '../src/base/text.ts'
import { anyText } from './helpers/any-text.ts'
import { buildApp, listen } from './helpers/app.ts'
import { makeFolder } from './helpers/folder.ts'
import { toPost, type Message, type RequestParts } from './helpers/request.ts'
import { openSession } from './helpers/session.ts'
import { call, CATALOG, DOORS, postParts, shared } from './helpers/text-doors.ts'
import { findIllFormed, HALF } from './helpers/well-formed.ts'
import { TaskClient, TASKS } from './features/tasks/task-client.ts'

/** Doors whose answers say nothing of the text. */
const SILENT = ['an internal error', 'an output that breaks its schema', 'an unknown cursor']

/** Returns what is not well-formed in the body of an answer, as bytes, as JSON and as texts. */
function problemsOf (body: Buffer): string[] {
  const text = body.toString()
  if (!Buffer.from(text).equals(body)) return ['the bytes are no UTF-8']
  const bodies = text.startsWith('{') ? [text] : text.split('\n').filter((line) => line.startsWith('data: '))
  return bodies.flatMap((one) => {
    const json = one.replace(/^data: /, '')
    return [...HALF.test(json) ? [`a half in ${json}`] : [], ...findIllFormed(JSON.parse(json))]
  })
}

t.test('answers', async (t) => {
  const auditFile = join(await makeFolder(t), 'audit.jsonl')
  const app = await buildApp(t, CATALOG, { auditFile })
  const post = async (parts: RequestParts) => await postParts(app, parts)
  for (const [door, toParts] of Object.entries(DOORS)) {
    t.test(door, async (t) => {
      await fc.assert(fc.asyncProperty(anyText(), async (text) => {
        shared.text = text
        const body = await post(toParts(text))
        const problems = problemsOf(body)
        if (problems.length > 0) throw new Error(problems.join('\n'))
        return body.length > 0
      }), { numRuns: 40, examples: [['\ud83d'], ['a\udc00"\\ud800'], ['\ud83d'.repeat(300)]] })
      shared.text = 'probe'
      if (!SILENT.includes(door)) t.match(String(await post(toParts('probe'))), 'probe')
    })
  }
  t.test('a half becomes U+FFFD, and the text beside structured content is equal', async (t) => {
    const { result } = JSON.parse(String(await post(call('structured')('a\ud83d'))))
    t.strictSame(result.structuredContent, { 'a\ufffd': 'a\ufffd', list: [{ 'a\ufffd': ['a\ufffd'] }] })
    t.strictSame(JSON.parse(result.content[0].text), result.structuredContent)
  })
  t.test('a choice is taken as it is sent', async (t) => {
    const params = { name: 'chosen', arguments: { c: 'cut \ufffd' } }
    const { result } = JSON.parse(String(await post({ method: 'tools/call', params })))
    t.strictSame([result.isError, result.content[0].text], [undefined, 'cut \ufffd'])
  })
  t.test('lists', async (t) => {
    for (const method of ['server/discover', 'tools/list', 'prompts/list', 'resources/list']) {
      const body = await post({ method })
      t.strictSame(problemsOf(body), [], method)
      t.match(String(body), /Half \\ufffd|half \\ufffd/, method)
    }
  })
  t.test('the audit log', async (t) => {
    for (const text of ['\ud83d', '{"\udc00":"\\ud800"}']) await post(call('kept')(text))
    await app.close()
    const lines = readFileSync(auditFile)
    t.ok(Buffer.from(lines.toString()).equals(lines))
    const calls: Message[] = lines.toString().trim().split('\n').map((line) => JSON.parse(line))
    t.strictSame(findIllFormed(calls), [])
    t.match(calls.at(-1), { arguments: { text: '{"\ufffd":"\\ud800"}' } })
  })
})

t.test('an id that is not well-formed is refused, and so is such a token of progress', async (t) => {
  const app = await buildApp(t, CATALOG)
  const refused = async (parts: RequestParts) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/mcp', ...toPost(parts) })
    return { statusCode, ...JSON.parse(body) }
  }
  t.match(await refused({ ...call('text')('x'), id: 'a\ud83d' }), {
    statusCode: 400, id: undefined, error: { code: -32600, message: /"id" must be an integer or well-formed text/ }
  })
  t.match(await refused({ ...call('text')('x'), meta: { progressToken: '\udc00' } }), {
    id: 1, error: { code: -32602, message: /progressToken must be an integer or well-formed text/ }
  })
  t.match(await refused({ ...call('text')('x'), id: '😀' }), { id: '😀', result: { content: [{ text: 'x' }] } })
})

const TEXTS = ['\ud83d', 'a\udc00"\\ud800', '👩‍💻'.repeat(250), `${'x'.repeat(999)}😀`]

t.test('tasks', async (t) => {
  const app = await buildApp(t, CATALOG, { constants: { taskGraceMs: 20 } })
  const send = async (parts: RequestParts) => {
    const post = { method: 'POST', url: '/mcp', ...toPost(parts) } as const
    const { statusCode: status, rawPayload } = await app.inject(post)
    t.strictSame(problemsOf(rawPayload), [], parts.method)
    return { status, response: JSON.parse(String(rawPayload)) }
  }
  const client = new TaskClient(send, { capabilities: { ...TASKS, elicitation: {} } })
  for (const text of TEXTS) {
    const { taskId } = await client.call('works', { text })
    const asking = await client.until(taskId, 'input_required')
    t.match(asking.inputRequests.who.params, { message: text.toWellFormed() })
    t.equal(asking.statusMessage, cut(text, 1000).toWellFormed())
    await client.update(taskId, { who: { action: 'accept', content: { name: text } } })
    const { result } = await client.until(taskId, 'completed')
    t.strictSame(result.structuredContent, { [text.toWellFormed()]: text.toWellFormed() })
  }
})

t.test('sessions of earlier revisions', async (t) => {
  const app = await buildApp(t, CATALOG)
  const client = await openSession(t, await listen(app))
  await client.request('logging/setLevel', { level: 'debug' })
  for (const text of TEXTS) {
    const replies = [
      await client.call('text', { text }),
      await client.call('structured', { text }),
      await client.call('told', { text }, { meta: { progressToken: 'p' } }),
      await client.call('refused', { text }),
      await client.request('prompts/get', { name: 'say', arguments: { text } }),
      await client.request(`x/${text}`),
      await client.request('resources/list')
    ]
    for (const { text: body, events } of replies) {
      const bodies = [body, ...events.map(({ data = '' }) => data)].filter((one) => one !== '')
      t.strictSame(bodies.flatMap((one) => problemsOf(Buffer.from(one))), [])
    }
    t.match(replies[0]?.result.content, [{ text: text.toWellFormed() }])
    t.ok((replies[2]?.events.length ?? 0) > 2, 'notifications come before the answer')
  }
})
