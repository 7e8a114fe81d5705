// Calls tools over node:http by hand, on kept connections, and tells what became of each request.

import { Agent, request as openRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { readMessages, toPost, type Message, type RequestParts } from '../helpers/request.ts'

/** No request may take longer to be answered, or to fail. */
const REQUEST_LIMIT_MS = 60_000
const MAX_PAUSE_MS = 100
/** Without a pause the clients of a load take the processor time that the replicas need to come back. */
export const PAUSE_MS = 50
/** What a load balancer says of a service that is not there. */
const PASSING_STATUSES = [502, 503, 504]
const PASSING_ERRORS = [
  { pattern: /cannot be reached at the moment/, cause: 'state unavailable' },
  { pattern: /being changed by too many at once/, cause: 'too many at once' }
]

type Arguments = { readonly [name: string]: unknown }

export type Outcome =
  | { readonly kind: 'done', readonly content: Message }
  /** It was not done, or nobody knows: to be sent again. */
  | { readonly kind: 'unacknowledged', readonly cause: string }
  /** What must not happen, whatever is killed. */
  | { readonly kind: 'wrong', readonly cause: string }

export class ShopClient {
  /** How long each request took, in milliseconds. */
  readonly durations: number[] = []
  /** How often something was sent again, by cause. */
  readonly retries = new Map<string, number>()
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true })

  constructor (url: string) {
    this.#url = url
  }

  /** Sends one request. */
  async call (name: string, args: Arguments = {}): Promise<Outcome> {
    const begun = performance.now()
    try {
      return await exchange(this.#url, this.#agent, {
        method: 'tools/call', params: { name, arguments: args }
      })
    } finally {
      this.durations.push(performance.now() - begun)
    }
  }

  /** Sends the call again until it is acknowledged; throws for what is wrong. */
  async insist (name: string, args: Arguments = {}): Promise<Message> {
    for (;;) {
      const outcome = await this.call(name, args)
      if (outcome.kind === 'done') return outcome.content
      if (outcome.kind === 'wrong') throw new Error(`${name} ${JSON.stringify(args)}: ${outcome.cause}`)
      this.retries.set(outcome.cause, (this.retries.get(outcome.cause) ?? 0) + 1)
      // Of different lengths, so that those who failed together do not come back together.
      await pause(Math.random() * MAX_PAUSE_MS)
    }
  }

  close (): void {
    this.#agent.destroy()
  }
}

async function exchange (url: string, agent: Agent, parts: RequestParts): Promise<Outcome> {
  const { headers, body } = toPost(parts)
  return await new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => resolve(error.name === 'AbortError'
      ? { kind: 'wrong', cause: `no answer within ${REQUEST_LIMIT_MS} ms` }
      : { kind: 'unacknowledged', cause: `connection: ${error.code ?? error.message}` })
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS)
    const request = openRequest(url, {
      method: 'POST', agent, signal, headers: { ...headers, 'content-length': Buffer.byteLength(body) }
    })
    request.on('error', fail)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', fail)
      response.on('data', (chunk: string) => { text += chunk })
      response.on(
        'end',
        () => resolve(toOutcome(response.statusCode ?? 0, text, response.headers['content-type'] ?? ''))
      )
    })
    request.end(body)
  })
}

function toOutcome (status: number, text: string, contentType: string): Outcome {
  if (PASSING_STATUSES.includes(status)) return { kind: 'unacknowledged', cause: `HTTP ${status}` }
  const result = status === 200 ? readMessages(text, contentType).at(-1)?.result : undefined
  if (result !== undefined && result.isError !== true) {
    return { kind: 'done', content: result.structuredContent }
  }
  const passing = PASSING_ERRORS.find(({ pattern }) => pattern.test(String(result?.content[0].text)))
  return passing === undefined
    ? { kind: 'wrong', cause: `HTTP ${status} ${text.slice(0, 300)}` }
    : { kind: 'unacknowledged', cause: passing.cause }
}
