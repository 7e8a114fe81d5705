// The limits of the sizes of one call: its arguments and its result.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { send, type Answer, type RequestParts } from '../../helpers/request.ts'

const ANY = "inputSchema: { type: 'object' }"
const FILES: Files = {
  'tools/any.ts': toolModule('any', ANY),
  'tools/small.ts': toolModule('small', `${ANY}, limits: { argumentBytes: 20 }`),
  'tools/flat.ts': toolModule('flat', `${ANY}, limits: { argumentDepth: 2 }`),
  'tools/says.ts': toolModule(
    'says', `${ANY}, limits: { resultBytes: 400 }`,
    '({ times, late }) => late ? Promise.resolve("é".repeat(times)) : "é".repeat(times)'
  ),
  'tools/talks.ts': toolModule('talks', ANY, '({ times }) => "x".repeat(times)'),
  'prompts/p.ts': `
import { definePrompt } from 'trivet'
export default definePrompt({ name: 'p', description: 'A prompt.', arguments: [{ name: 'x' }], render: ({ x }) => 'a'.repeat(Number(x)) })
`,
  'resources/a.txt': 'a'.repeat(3000)
}

const start = async (t: Test, options: AppOptions = {}, files: Files = {}) =>
  await buildApp(t, { ...FILES, ...files }, options)

const call = (name: string, args: object = {}): RequestParts => ({
  method: 'tools/call', params: { name, arguments: args }
})

const textOf = ({ response: { result } }: Answer): string => result.content[0].text

t.test('arguments larger than the tool allows are a tool error that says the limit', async (t) => {
  const app = await start(t)
  t.equal(textOf(await send(app, call('small', { text: 'x'.repeat(9) }))), 'ok', '20 bytes of JSON')
  for (const text of ['x'.repeat(10), 'ü'.repeat(5)]) {
    const { status, response: { result } } = await send(app, call('small', { text }))
    t.equal(status, 200)
    t.match(result, {
      isError: true,
      content: [{ text: 'The limit is reached: the arguments may have 20 bytes of JSON. Send less.' }]
    })
  }
  t.equal(textOf(await send(app, call('any', { text: 'x'.repeat(10) }))), 'ok', 'another tool')
})

t.test('arguments deeper than the tool allows', async (t) => {
  const app = await start(t)
  t.equal(textOf(await send(app, call('flat', { a: [1, 2], b: { c: 1 } }))), 'ok')
  const { response: { result } } = await send(app, call('flat', { a: [[]] }))
  t.match(result, {
    isError: true,
    content: [{ text: 'The limit is reached: the arguments may be nested 2 levels deep. Send less.' }]
  })
})

t.test('a result larger than the tool allows does not leave the service', async (t) => {
  const app = await start(t)
  for (const late of [false, true]) {
    t.equal(textOf(await send(app, call('says', { times: 80, late }))), 'é'.repeat(80))
    const { response: { result } } = await send(app, call('says', { times: 200, late }))
    t.match(result, {
      isError: true,
      content: [{
        text: 'The limit is reached: a result may have 400 bytes of JSON. The call has run. Ask for less.'
      }]
    })
  }
})

t.test('an error larger than the tool allows does not leave the service', async (t) => {
  const limits = "inputSchema: { type: 'object' }, limits: { resultBytes: 400 }"
  const throwing = `async ({ times, late, blocks }) => {
    const text = 'é'.repeat(times)
    if (late) await new Promise((resolve) => setImmediate(resolve))
    throw blocks ? new ToolError('No.', { content: [{ type: 'text', text }] }) : new ToolError(text)
  }`
  const app = await start(t, { constants: { maxResultBytes: 2000 } }, {
    'tools/fails.ts': toolModule('fails', limits, throwing),
    'tools/fails_once.ts': toolModule(
      'fails_once', `${limits}, dedupe: true, annotations: { idempotentHint: true }`, throwing
    ),
    'tools/fails_free.ts': toolModule('fails_free', "inputSchema: { type: 'object' }", throwing)
  })
  for (const late of [false, true]) {
    t.equal(textOf(await send(app, call('fails', { times: 80, late }))), 'é'.repeat(80))
    const large = { times: 200, late }
    const headers = { 'idempotency-key': `a key ${late}` }
    for (const request of [
      call('fails', large), call('fails', { ...large, blocks: true }),
      // The repetition gets the first answer.
      { ...call('fails_once', large), headers }, { ...call('fails_once', large), headers }
    ]) {
      const { response: { result } } = await send(app, request)
      t.match(result, { isError: true, content: [{ text: /^The limit is reached: a result may have 400 / }] })
    }
  }
  t.match(textOf(await send(app, call('fails_free', { times: 2000 }))), /a result may have 2000 bytes/)
})

t.test('the limit of the service holds for calls, prompts and reads', async (t) => {
  const app = await start(t, { constants: { maxResultBytes: 2000 } })
  t.equal((await send(app, call('talks', { times: 1000 }))).response.result.isError, undefined)
  t.match(textOf(await send(app, call('talks', { times: 2000 }))), /^The limit is reached: a result may have 2000 /)
  const get = (x: string) => ({ method: 'prompts/get', params: { name: 'p', arguments: { x } } })
  t.ok((await send(app, get('1000'))).response.result)
  const { status, response: { error } } = await send(app, get('3000'))
  t.equal(status, 422)
  t.match(error, { code: 422, message: /^The limit is reached: a result may have 2000 bytes/, data: undefined })
  const read = await send(app, { method: 'resources/read', params: { uri: 'file:///a.txt' } })
  t.match(read.response.error, { code: 422 })
  t.ok((await send(app, { method: 'tools/list' })).response.result, 'a list has pages instead')
})

t.test('server.yaml limits the calls of every tool, and the lower number holds', async (t) => {
  const yaml = 'limits:\n  argumentBytes: 30\n  argumentDepth: 3\n  resultBytes: 500\n'
  const app = await start(t, { constants: { maxResultBytes: 2000 } }, { 'server.yaml': yaml })
  t.match(textOf(await send(app, call('any', { text: 'x'.repeat(50) }))), /the arguments may have 30 bytes/)
  t.match(textOf(await send(app, call('small', { text: 'x'.repeat(15) }))), /the arguments may have 20 bytes/)
  t.match(textOf(await send(app, call('any', { a: [[[]]] }))), /nested 3 levels/)
  t.match(textOf(await send(app, call('talks', { times: 600 }))), /a result may have 500 bytes/)
  const prompt = { method: 'prompts/get', params: { name: 'p', arguments: { x: '1'.repeat(40) } } }
  const { status, response } = await send(app, prompt)
  t.equal(status, 413)
  t.match(response.error, { code: 413, message: /^The limit is reached: the arguments may have 30 bytes/ })
})

t.test('a value that is no limit stops the load', async (t) => {
  for (const limits of ['{ resultBytes: 0 }', '{ argumentDepth: 0 }', "{ argumentBytes: '1k' }"]) {
    await t.rejects(start(t, {}, { 'tools/bad.ts': toolModule('bad', `limits: ${limits}`) }), {
      name: 'CatalogError', message: /limits\S* must be/
    })
  }
})
