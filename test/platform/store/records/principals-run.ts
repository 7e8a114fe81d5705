// Runs random steps of two principals, and checks that neither reaches the state of the other.

import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Authenticator } from '../../../../src/platform/access/authentication.ts'
import { ANONYMOUS } from '../../../../src/platform/access/principal.ts'
import { until } from '../../../helpers/deadline.ts'
import { toPost, type Message, type RequestParts } from '../../../helpers/request.ts'
import { openStream, type AnswerStream } from '../../../helpers/stream.ts'

const ASKABLE = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }

/** Reads the principal from the header, in place of a check of tokens. */
export const byHeader: Authenticator = {
  authenticate: (header) => header === undefined
    ? ANONYMOUS
    : { ...JSON.parse(header), scopes: new Set([String(Math.random())]) }
}

export interface Caller { readonly subject?: string, readonly clientId?: string }

/** The end of every text of a caller. It must never be in an answer to the other caller. */
const markOf = ({ subject, clientId }: Caller): string => `of ${subject}/${clientId}.`

/**
 * The id that a step uses: one that was created, one that differs from it only in bits that base64 ignores,
 * or one that was never created.
 */
export interface Guess { readonly seen: number, readonly form: 'as it is' | 'respelled' | 'made up' }

export type Way = 'read' | 'update' | 'delete' | 'confirm' | 'resource' | 'prompt'

export type Step = { readonly by: 0 | 1 } & (
  | { readonly does: 'create' | 'draw' }
  | { readonly does: Way | 'listen', readonly guess: Guess }
  // `to` is the request that repeats the state: the one that got the state, or another.
  | {
    readonly does: 'answer'
    readonly state: number
    readonly to: 'its request' | 'draw' | Way
    readonly action: 'accept' | 'decline'
    readonly guess: Guess
  }
)

interface Basket { readonly owner: 0 | 1, text: string, isDeleted: boolean }

/** A request state, and the request that got it. */
interface Sealed {
  readonly owner: 0 | 1
  readonly way: 'confirm' | 'draw'
  readonly id: string
  readonly requestState: string
  readonly seen: string
}

const MADE_UP = `bsk_${'A'.repeat(22)}`
const DRAW_ID = 'of-everyone'

/** The last character of 128 bits in base64 has four bits that decoders ignore. */
function respell (id: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return id.slice(0, -1) + (alphabet[alphabet.indexOf(id.slice(-1)) ^ 1] ?? '')
}

function toRequest (way: Way | 'draw' | 'create', id: string, text: string): RequestParts {
  if (way === 'resource') return { method: 'resources/read', params: { uri: `basket://${id}` } }
  if (way === 'prompt') return { method: 'prompts/get', params: { name: 'basket', arguments: { id } } }
  return {
    method: 'tools/call',
    params: {
      name: way,
      arguments: {
        ...(way === 'create' ? {} : { id }), ...(['create', 'update'].includes(way) ? { text } : {})
      }
    }
  }
}

/** The text of a result of any method. */
function textOf ({ result }: Message): string {
  return result?.content?.[0].text ?? result?.contents?.[0].text ?? result?.messages?.[0].content.text
}

/** The service of all runs, and every case that occurred in them. */
interface Bench {
  readonly t: Test
  readonly app: FastifyInstance
  readonly url: string
  readonly seen: Set<string>
}

/** The steps of two principals in one run, and their expected results. */
export class Run {
  readonly #bench: Bench
  readonly #callers: readonly [Caller, Caller]
  readonly #baskets = new Map<string, Basket>()
  readonly #sealed: Sealed[] = []
  readonly #streams: Array<{
    readonly by: 0 | 1
    readonly uri: string
    readonly stream: AnswerStream
    isToldOf: boolean
  }> = []

  #texts = 0

  constructor (bench: Bench, callers: readonly [Caller, Caller]) {
    this.#bench = bench
    this.#callers = callers
  }

  async do (step: Step): Promise<void> {
    switch (step.does) {
      case 'create': return await this.#create(step.by)
      case 'draw': return await this.#ask(step.by, 'draw', DRAW_ID, `lot ${markOf(this.#callers[step.by])}`)
      case 'listen': return await this.#listen(step.by, this.#find(step.guess))
      case 'answer': return await this.#answer(step)
      default: return await this.#use(step.by, step.does, this.#find(step.guess))
    }
  }

  /** Checks that each caller got the notifications of its own baskets, and no others. */
  async end (): Promise<void> {
    for (const { stream, uri, isToldOf } of this.#streams) {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': 1 }
      if (isToldOf) await until(() => stream.messages.length > 1, 'a change of one\'s own')
      else expect('a stranger\'s notifications', stream.messages.slice(1), [])
      for (const message of stream.messages.slice(1)) {
        expect('a notification', message, {
          jsonrpc: '2.0', method: 'notifications/resources/updated', params: { _meta, uri }
        })
      }
      stream.close()
    }
  }

  #find ({ seen, form }: Guess): string {
    const ids = [...this.#baskets.keys()]
    const id = ids[seen % ids.length]
    if (id === undefined || form === 'made up') return MADE_UP.slice(0, -1) + 'AQgw'.charAt(seen % 4)
    return form === 'respelled' ? respell(id) : id
  }

  /** The basket, if the caller owns it. */
  #own (by: 0 | 1, id: string): Basket | undefined {
    const basket = this.#baskets.get(id)
    return basket === undefined || basket.isDeleted || basket.owner !== by ? undefined : basket
  }

  #whose (by: 0 | 1, id: string): string {
    const basket = this.#baskets.get(id)
    return basket === undefined
      ? 'nobody\'s'
      : `${basket.owner === by ? 'own' : 'another\'s'}${basket.isDeleted ? ', deleted' : ''}`
  }

  async #create (by: 0 | 1): Promise<void> {
    const text = this.#newText(by)
    const id = textOf(JSON.parse((await this.#send(by, toRequest('create', '', text))).body))
    if (!/^bsk_[\w-]{22}$/.test(id) || this.#baskets.has(id)) throw new Error(`${id} is no new id`)
    this.#baskets.set(id, { owner: by, text, isDeleted: false })
  }

  #newText (by: 0 | 1): string {
    return `text ${++this.#texts} ${markOf(this.#callers[by])}`
  }

  async #use (by: 0 | 1, way: Way, id: string): Promise<void> {
    this.#bench.seen.add(`${way}: ${this.#whose(by, id)}`)
    const own = this.#own(by, id)
    if (own !== undefined && way === 'confirm') return await this.#ask(by, way, id, own.text)
    const text = this.#newText(by)
    const answer = await this.#send(by, toRequest(way, id, text))
    if (own === undefined) return expect(way, answer, await this.#unknown(by, way, id, text))
    if (way === 'update') {
      own.text = text
      for (const listener of this.#streams) {
        if (listener.by === by && listener.uri === `basket://${id}`) listener.isToldOf = true
      }
    }
    if (way === 'delete') own.isDeleted = true
    expect(way, textOf(JSON.parse(answer.body)), way === 'delete' ? 'deleted' : own.text)
  }

  /** Expects the question, and keeps the request state for later steps. */
  async #ask (by: 0 | 1, way: 'confirm' | 'draw', id: string, seen: string): Promise<void> {
    const { result } = JSON.parse((await this.#send(by, toRequest(way, id, ''))).body)
    expect(way, Object.keys(result.inputRequests), ['sure'])
    this.#sealed.push({ owner: by, way, id, requestState: result.requestState, seen })
  }

  async #answer ({ by, state, to, action, guess }: Extract<Step, { does: 'answer' }>): Promise<void> {
    const sealed = this.#sealed[state % this.#sealed.length]
    if (sealed === undefined) return
    const way = to === 'its request' ? sealed.way : to
    const id = to === 'its request' ? sealed.id : this.#find(guess)
    const { method, params } = toRequest(way, id, '')
    const inputResponses = { sure: action === 'accept' ? { action, content: { confirm: true } } : { action } }
    const send = async (requestState: string) => await this.#send(by, {
      method, params: { ...params, inputResponses, requestState }
    })
    const isItsOwn = sealed.owner === by && sealed.way === way && sealed.id === id
    const whose = sealed.owner === by ? 'own' : 'stolen'
    const target = way === sealed.way && id === sealed.id ? 'to its request' : 'to another'
    this.#bench.seen.add(`answer: ${whose} state, ${target}`)
    const answer = await send(sealed.requestState)
    // The answer has the text from before the question, even if the basket has changed since.
    if (isItsOwn) return expect('answer', textOf(JSON.parse(answer.body)), `${action} ${sealed.seen}`)
    expect('a refused state', JSON.parse(answer.body).error?.code, -32602)
    expect('a refused state', answer, await send('made up'))
  }

  async #listen (by: 0 | 1, id: string): Promise<void> {
    this.#bench.seen.add(`listen: ${this.#whose(by, id)}`)
    const uri = `basket://${id}`
    const stream = await openStream(this.#bench.t, this.#bench.url, {
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: [uri] } },
      headers: this.#headers(by)
    })
    expect('listen', (await stream.next()).params.notifications, { resourceSubscriptions: [uri] })
    this.#streams.push({ by, uri, stream, isToldOf: false })
  }

  /** The answer for an id that was never created, with this id in its place. */
  async #unknown (by: 0 | 1, way: Way, id: string, text: string): Promise<Answered> {
    const never = `bsk_${'B'.repeat(21)}A`
    const answer = await this.#send(by, toRequest(way, never, text))
    const { result, error } = JSON.parse(answer.body)
    const said = error?.message ?? (result.isError === true ? textOf({ result }) : '')
    const unknown = /There is no basket "[^"]+"\. It may have expired; create makes a new one\.$|^Resource not found: /
    if (!unknown.test(said)) {
      throw new Error(`${way} of an unknown id: ${answer.body}`)
    }
    return { ...answer, body: answer.body.replaceAll(never, id) }
  }

  async #send (by: 0 | 1, parts: RequestParts): Promise<Answered> {
    const { headers, body } = toPost({ meta: ASKABLE, ...parts, headers: this.#headers(by) })
    const answer = await this.#bench.app.inject({ method: 'POST', url: '/mcp', headers, body })
    if (answer.body.includes(markOf(this.#callers[by === 0 ? 1 : 0]))) {
      throw new Error(`${parts.method} told one of the other's: ${answer.body}`)
    }
    return { status: answer.statusCode, type: String(answer.headers['content-type']), body: answer.body }
  }

  #headers (by: 0 | 1): { readonly [name: string]: string | undefined } {
    const caller = this.#callers[by]
    return { authorization: caller.subject === undefined ? undefined : JSON.stringify(caller) }
  }
}

interface Answered { readonly status: number, readonly type: string, readonly body: string }

function expect (what: string, actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}
