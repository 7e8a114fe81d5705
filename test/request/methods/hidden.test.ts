// A walk over every method of both eras, by every kind of caller: a catalog with hidden definitions answers
// as one without them, byte for byte. Only the version of the catalog differs: a hash of all that it serves.

import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { authenticator, CALLERS, guardedFiles } from '../../catalog/compiled/guarded-catalog.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { send, toPost, type Message, type RequestParts } from '../../helpers/request.ts'
import {
  LEGACY_REVISIONS, openSession, type SessionClient, type SessionReply
} from '../../helpers/session.ts'
import { openStream, type AnswerStream } from '../../helpers/stream.ts'

type Request = Pick<RequestParts, 'method' | 'params' | 'headers'>

const TOOL_NAMES = [
  'search_orders', 'search_refunds', 'create_thing', 'pay', 'search_books', 'peek', 'unknown', 'search_order',
  'serch_refund', 'creat_thing', 'zzzz_never'
]
const PROMPT_NAMES = ['brief', 'plan', 'greet', 'unknown', 'zzzz_never']
const URIS = [
  'doc://board', 'doc://bo%61rd', 'doc://open', 'doc://other', 'doc://private/1', 'doc://private%2F1',
  'doc://privat%65/a%2Fb', 'doc://private/1/2', 'file:///secret.txt', 'file:///secre%74.txt', 'file:///',
  'file:///docs', 'file:///docs/plain.txt', 'pay://slip', 'pay://sli%70', 'bill://1', 'none://1',
  'zzzz://never', 'zzzz://1', 'not a uri',
  ...['late-orders', 'acme/refunds', 'acme/pay-back', 'find-books', 'acme', 'none'].flatMap((path) => [
    `skill://${path}`, `skill://${path}/SKILL.md`, `skill://${path}/references`,
    `skill://${path}/reference%73/terms.md`, `skill://${path}/references/terms.md`
  ])
]
const TEMPLATES = ['doc://private/{id}', 'doc://{+path}', 'bill://{id}', 'file:///{+path}', 'none://{id}']

const COMMON: readonly Request[] = [
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].flatMap((method) => [
    { method }, { method, params: { cursor: 'nonsense' } }
  ]),
  ...TOOL_NAMES.flatMap((name) => [{}, { region: 5 }, { region: 'eu' }].flatMap((args) => [
    { method: 'tools/call', params: { name, arguments: args } },
    { method: 'tools/call', params: { name, arguments: args }, headers: { 'mcp-param-region': 'us' } }
  ])),
  { method: 'tools/call', params: { name: 'search_orders', arguments: 'wrong' } },
  { method: 'tools/call', params: { name: 'search_orders' }, headers: { 'mcp-name': 'another' } },
  ...PROMPT_NAMES.flatMap((name) => [{}, { x: 'one' }, { y: 'two' }].map(
    (args) => ({ method: 'prompts/get', params: { name, arguments: args } })
  )),
  ...URIS.map((uri) => ({ method: 'resources/read', params: { uri } })),
  ...PROMPT_NAMES.flatMap((name) => ['x', 'y'].map((argument) => ({
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name }, argument: { name: argument, value: '' } }
  }))),
  ...[...TEMPLATES, ...URIS].flatMap((uri) => ['id', 'path', 'none'].map((argument) => ({
    method: 'completion/complete',
    params: { ref: { type: 'ref/resource', uri }, argument: { name: argument, value: '' } }
  })))
]

const MODERN: readonly Request[] = [
  { method: 'server/discover' },
  { method: 'skills/list' },
  ...URIS.flatMap((uri) => [
    { method: 'skills/get', params: { uri } }, { method: 'resources/directory/read', params: { uri } }
  ]),
  { method: 'unknown/method' },
  ...COMMON,
  {
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: ['pay://slip', 'bill://1'] } }
  }
]

const LEGACY: readonly Request[] = [
  ...COMMON,
  ...URIS.flatMap((uri) => [
    { method: 'resources/subscribe', params: { uri } }, { method: 'resources/unsubscribe', params: { uri } }
  ])
]

interface Pair { readonly hiding: FastifyInstance, readonly without: FastifyInstance }

async function buildPair (t: Test, granted: string): Promise<Pair> {
  return {
    hiding: await buildApp(t, guardedFiles(), { authenticator }),
    without: await buildApp(t, guardedFiles(granted), { authenticator })
  }
}

async function modernAnswer (app: FastifyInstance, request: Request, held: string): Promise<string> {
  const post = toPost({ ...request, headers: { authorization: held, ...request.headers } })
  const answer = await app.inject({ method: 'POST', url: '/mcp', ...post })
  return `${answer.statusCode} ${String(answer.headers['content-type'])} ${answer.body}`
}

/** An answer that is late comes in a stream. */
const bodyOf = ({ text, messages }: SessionReply) => text === '' ? JSON.stringify(messages[0]) ?? '' : text

for (const [held, granted] of CALLERS) {
  const who = held === '' ? 'an anonymous caller' : `a caller with ${held}`

  t.test(`${who} learns nothing of what is hidden (107, 136, 140, 190, 269)`, async (t) => {
    const { hiding, without } = await buildPair(t, granted)
    for (const request of MODERN) {
      // A stream that opens has no end.
      if (request.method === 'subscriptions/listen' && /a.*b/.test(granted)) continue
      const expected = await modernAnswer(without, request, held)
      const answer = await modernAnswer(hiding, request, held)
      if (answer !== expected) t.equal(answer, expected, JSON.stringify(request))
    }
    t.pass(`${MODERN.length} requests`)
  })

  t.test(`${who} learns nothing in a session`, async (t) => {
    const { hiding, without } = await buildPair(t, granted)
    const urls = [await listen(hiding), await listen(without)] as const
    const [oldest, , , latest] = LEGACY_REVISIONS
    for (const revision of held === 'a' ? [oldest, latest] : [latest]) {
      const open = async (url: string): Promise<SessionClient> =>
        await openSession(t, url, { revision, headers: { authorization: held } })
      const [one, other] = [await open(urls[0]), await open(urls[1])]
      t.strictSame(one.initialized, other.initialized)
      for (const { method, params } of LEGACY) {
        const [answer, expected] = [await one.request(method, params), await other.request(method, params)]
        if (bodyOf(answer) !== bodyOf(expected) || answer.status !== expected.status) {
          t.equal(bodyOf(answer), bodyOf(expected), `${revision} ${method} ${JSON.stringify(params)}`)
        }
      }
      t.pass(`${LEGACY.length} requests of ${revision}`)
    }
  })

  t.test(`${who} hears nothing of what is hidden (198)`, async (t) => {
    const { hiding, without } = await buildPair(t, granted)
    const uris = URIS.filter((uri) => !/^(?:pay|bill|not)|pay-back/.test(uri))
    const subscribe = async (app: FastifyInstance): Promise<AnswerStream> => await openStream(
      t, await listen(app), {
        method: 'subscriptions/listen',
        headers: { authorization: held },
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: uris } }
      }
    )
    const [stream, expected] = [await subscribe(hiding), await subscribe(without)]
    const touch = async (app: FastifyInstance, uri: string): Promise<Message> =>
      await send(app, { method: 'tools/call', params: { name: 'touch', arguments: { uri } } })
    const hidden = [
      ...(granted.includes('a')
        ? []
        : ['doc://board', 'doc://bo%61rd', 'file:///secret.txt', 'file:///secre%74.txt']),
      ...(granted.includes('a') ? [] : URIS.filter((uri) => /late-orders/.test(uri))),
      ...(/a.*b/.test(granted) ? [] : URIS.filter((uri) => /acme\/refunds/.test(uri))),
      ...(granted.includes('b') ? [] : ['doc://private/1', 'doc://private%2F1', 'doc://privat%65/a%2Fb'])
    ]
    for (const uri of uris) {
      await touch(hiding, uri)
      if (!hidden.includes(uri)) await touch(without, uri)
    }
    await touch(hiding, 'doc://open')
    await touch(without, 'doc://open')
    await until(() => stream.messages.length >= expected.messages.length, 'the notifications')
    t.strictSame(stream.messages, expected.messages)
  })
}
