// The example catalog's baskets, as a customer's assistant uses them.

import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Authenticator } from '../src/platform/access/authentication.ts'
import { ANONYMOUS } from '../src/platform/access/principal.ts'
import { createApp, type AppOptions } from '../src/app/app.ts'
import { QUIET } from './helpers/quiet-options.ts'
import { send, type Answer, type Message } from './helpers/request.ts'

const catalog = fileURLToPath(new URL('../catalog', import.meta.url))
const ASKABLE = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
const YES = { confirmation: { action: 'accept', content: { confirm: true } } }

/** Takes the token as the name of the caller. A stand-in for a real check of tokens. */
const byName: Authenticator = {
  authenticate: (authorization) => authorization === undefined
    ? ANONYMOUS
    : { subject: authorization, scopes: new Set() }
}

async function open (t: Test, options: AppOptions = {}): Promise<FastifyInstance> {
  const app = await createApp({ catalog, ...QUIET, ...options })
  t.teardown(async () => await app.close())
  return app
}

interface CallOptions {
  readonly as?: string
  readonly retry?: object
  readonly meta?: { readonly [key: string]: unknown }
}

async function call (
  app: FastifyInstance, name: string, args: object, { as, retry = {}, meta = ASKABLE }: CallOptions = {}
): Promise<Answer> {
  return await send(app, {
    method: 'tools/call', params: { name, arguments: args, ...retry }, meta, headers: { authorization: as }
  })
}

async function result (
  app: FastifyInstance, name: string, args: object, options?: CallOptions
): Promise<Message> {
  const { response } = await call(app, name, args, options)
  return response.result
}

async function anyBook (app: FastifyInstance): Promise<string> {
  const { structuredContent } = await result(app, 'search_books', { query: 'whale' })
  return JSON.stringify(structuredContent).match(/"id":"([^"]+)"/)?.[1] ?? ''
}

t.test('a basket is filled, read and emptied, and the model learns its lifetime', async (t) => {
  const app = await open(t)
  const bookId = await anyBook(app)
  const { response: { result: { tools } } } = await send(app, { method: 'tools/list' })
  t.match(
    tools.find(({ name }: Message) => name === 'create_basket').description,
    /Each basket is kept for 1 day after its last use, and for 7 days at most\.$/
  )
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {})
  await result(app, 'add_to_basket', { basketId, bookId })
  const added = await result(app, 'add_to_basket', { basketId, bookId, quantity: 2 })
  t.match(added.structuredContent, { basketId, lines: [{ bookId, quantity: 3 }] })
  t.strictSame((await result(app, 'view_basket', { basketId })).structuredContent, added.structuredContent)
  const { response: { result: { contents } } } = await send(app, {
    method: 'resources/read', params: { uri: `basket://${basketId}` }
  })
  t.strictSame(JSON.parse(contents[0].text), added.structuredContent)
  const removeOne = async () => await result(app, 'remove_from_basket', {
    basketId, bookId, quantity: 1, requestId: 'first'
  })
  for (let attempt = 0; attempt < 2; attempt++) {
    t.match((await removeOne()).structuredContent, { lines: [{ bookId, quantity: 2 }] }, 'once')
  }
  t.strictSame((await result(app, 'remove_from_basket', { basketId, bookId })).structuredContent.lines, [])
})

t.test('an addition sent twice counts once, and concurrent additions all count', async (t) => {
  const app = await open(t)
  const bookId = await anyBook(app)
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {})
  await Promise.all(
    Array.from(
      { length: 32 },
      async (_, index) => await result(app, 'add_to_basket', {
        basketId, bookId, requestId: `r${index % 16}`
      })
    )
  )
  t.match((await result(app, 'view_basket', { basketId })).structuredContent, { lines: [{ quantity: 16 }] })
})

t.test('a basket of another caller does not exist, for any tool (67)', async (t) => {
  const app = await open(t, { authenticator: byName })
  const bookId = await anyBook(app)
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {}, { as: 'ada' })
  await result(app, 'add_to_basket', { basketId, bookId }, { as: 'ada' })
  for (const as of ['bob', undefined]) {
    const options = as === undefined ? {} : { as }
    for (
      const [name, args] of [
        ['view_basket', {}], ['add_to_basket', { bookId }], ['remove_from_basket', { bookId }],
        ['checkout', {}]
      ] as const
    ) {
      const denied = await result(app, name, { basketId, ...args }, options)
      t.match(
        denied,
        { isError: true, content: [{ text: /^There is no basket .*create_basket makes a new one\.$/ }] }, name
      )
    }
    const { response } = await send(app, {
      method: 'resources/read', params: { uri: `basket://${basketId}` }, headers: { authorization: as }
    })
    t.match(response.error, { code: -32602, data: { uri: `basket://${basketId}` } })
  }
  t.match((await result(app, 'view_basket', { basketId }, { as: 'ada' })).structuredContent, {
    lines: [{ quantity: 1 }]
  })
})

t.test('checkout asks first, and orders exactly once (208, 214, 217)', async (t) => {
  const app = await open(t)
  const bookId = await anyBook(app)
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {})
  await result(app, 'add_to_basket', { basketId, bookId })
  const asked = await result(app, 'checkout', { basketId })
  t.match(asked, {
    resultType: 'input_required',
    inputRequests: {
      confirmation: { method: 'elicitation/create', params: { mode: 'form', message: /^Order 1 x / } }
    },
    requestState: String
  })

  const declined = await result(app, 'checkout', { basketId }, {
    retry: { inputResponses: { confirmation: { action: 'decline' } }, requestState: asked.requestState }
  })
  t.strictSame(declined.structuredContent, { ordered: false })
  const retry = { inputResponses: YES, requestState: asked.requestState }
  const orders = await Promise.all(
    Array.from({ length: 5 }, async () => await result(app, 'checkout', { basketId }, { retry }))
  )
  t.equal(
    new Set(orders.map(({ structuredContent: { ordered, order } }) => `${ordered} ${order.number}`)).size, 1,
    'sent five times, ordered once'
  )
  t.match(orders[0], { resultType: 'complete', structuredContent: { ordered: true } })
  t.match(await result(app, 'add_to_basket', { basketId, bookId }), { isError: true })
})

t.test('the ordered price is the confirmed price (216)', async (t) => {
  const app = await open(t)
  const bookId = await anyBook(app)
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {})
  await result(app, 'add_to_basket', { basketId, bookId })
  const { requestState } = await result(app, 'checkout', { basketId })
  await result(app, 'add_to_basket', { basketId, bookId })
  t.match(await result(app, 'checkout', { basketId }, { retry: { inputResponses: YES, requestState } }), {
    isError: true, content: [{ text: /has changed/ }]
  })
})

t.test('a request state opens only for its request, caller and service (215, 216)', async (t) => {
  const [app, other] = [await open(t, { authenticator: byName }), await open(t, { authenticator: byName })]
  const bookId = await anyBook(app)
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {}, { as: 'ada' })
  await result(app, 'add_to_basket', { basketId, bookId }, { as: 'ada' })
  const { requestState } = await result(app, 'checkout', { basketId }, { as: 'ada' })
  const refused = async (on: FastifyInstance, name: string, args: object, as: string, state: string) =>
    (
      await call(on, name, args, { as, retry: { inputResponses: YES, requestState: state } })
    ).response.error?.code
  t.equal(await refused(app, 'checkout', { basketId }, 'ada', `${requestState}-TAMPERED`), -32602)
  t.equal(await refused(app, 'checkout', { basketId }, 'bob', requestState), -32602)
  t.equal(await refused(app, 'view_basket', { basketId }, 'ada', requestState), -32602)
  t.equal(await refused(app, 'checkout', { basketId: `${basketId}x` }, 'ada', requestState), -32602)
  t.equal(
    await refused(other, 'checkout', { basketId }, 'ada', requestState), -32602,
    'another service has other secrets'
  )
})

t.test('a client without forms is told the missing capability (90, 212)', async (t) => {
  const app = await open(t)
  const bookId = await anyBook(app)
  const { structuredContent: { basketId } } = await result(app, 'create_basket', {})
  await result(app, 'add_to_basket', { basketId, bookId })
  for (const elicitation of [undefined, { url: {} }]) {
    const meta = {
      'io.modelcontextprotocol/clientCapabilities': elicitation === undefined ? {} : { elicitation }
    }
    const { status, response } = await call(app, 'checkout', { basketId }, { meta })
    t.equal(status, 400)
    t.match(response.error, { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } })
  }
})

t.test('the skill of late orders names tools, files and members of results that exist', async (t) => {
  const app = await open(t)
  const read = async (uri: string) =>
    (await send(app, { method: 'resources/read', params: { uri } })).response.result.contents[0].text
  const { skills: [skill] } = (await send(app, { method: 'skills/list' })).response.result
  t.equal(skill.uri, 'skill://late-orders/SKILL.md')
  const text = await read(skill.uri)
  const { tools } = (await send(app, { method: 'tools/list' })).response.result
  const known = tools.map(({ name }: Message) => name)
  const named = [...new Set<string>(text.match(/(?<=`)[a-z]+(?:_[a-z]+)+(?=`)/g))]
  t.strictSame(named.toSorted(), ['get_book', 'quote_shipping', 'search_books'])
  t.strictSame(named.filter((name) => !known.includes(name)), [])
  for (const [, path] of text.matchAll(/\]\(([^)]+)\)/g)) t.ok(await read(`skill://late-orders/${path}`), path)
  for (const [uri] of text.matchAll(/file:\/\/\/[\w./]+/g)) t.match(await read(uri), /five working days/, uri)
  const bookId = await anyBook(app)
  const quote = await send(app, {
    method: 'tools/call',
    params: { name: 'quote_shipping', arguments: { region: 'eu', items: [{ bookId, quantity: 1 }] } },
    headers: { 'mcp-param-region': 'eu' }
  })
  t.match(quote.response.result.structuredContent, { workingDays: { from: Number, to: Number } })
  t.match((await result(app, 'get_book', { id: bookId })).structuredContent, { stock: Number })
})
