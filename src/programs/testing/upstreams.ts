// Stand-ins for the upstreams of a catalog in a test. Nothing leaves the process.

import type { IncomingHttpHeaders } from 'node:http'
import type { Principal } from '../../platform/access/principal.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import type { UpstreamErrorCode } from '../../platform/author/upstream-error.ts'
import { messageOf, quote } from '../../base/words.ts'
import { CallError, StandInError } from '../../features/upstreams/call-error.ts'
import type {
  AnswerController, AnswerHandler, Transport, WireRequest
} from '../../features/upstreams/calling-upstream.ts'
import type { OpenTransport } from '../../features/upstreams/upstreams.ts'

/** A call of an upstream, as its stand-in gets it. */
export interface UpstreamRequest {
  /** Such as `GET`. */
  readonly method: string
  /** Below the URL of the upstream, without the query: `customers/7`. */
  readonly path: string
  readonly query: URLSearchParams
  /** The values by names in lower case. Headers of `auth` are missing: no credential is made in a test. */
  readonly headers: { readonly [name: string]: string }
  /** The caller that the call is made for. The `list` of a template calls for an anonymous caller. */
  readonly principal: Principal
  /** The body. Empty if there is none. */
  text (): string
  /** The body, read as JSON. Throws a SyntaxError if it is no JSON. `T` is not checked. */
  json<T = unknown> (): T
}

/** What an upstream answers: a Response, or a value that is sent as JSON with status 200. */
export type UpstreamAnswerer = (request: UpstreamRequest) => unknown

/**
 * A function, or the answers by method and path: `{ 'GET customers/7': { id: 7 } }`. A call without an answer
 * there ends in an error that names it.
 */
export type UpstreamAnswers = UpstreamAnswerer | { readonly [methodAndPath: string]: unknown }

/** Stands for an upstream in a test. */
export interface TestUpstream {
  /** The calls so far, with repeated ones. */
  readonly calls: readonly UpstreamRequest[]
  /**
   * Says what the upstream answers from now on, and closes its circuit. What the definition says of
   * repetition, limits and time holds, and so do `accept`, redirects and the rules for paths.
   *
   * @example
   * shop.upstream(crm).answer({ 'GET customers/7': { id: 7, name: 'Ada' } })
   * shop.upstream(crm).answer(({ path }) => new Response(null, { status: path === 'health' ? 204 : 404 }))
   */
  answer (answers: UpstreamAnswers): this
  /** Says that calls fail from now on, as an UpstreamError with this code, and closes the circuit. */
  fail (code: UpstreamErrorCode): this
}

class StandIn implements TestUpstream {
  readonly calls: UpstreamRequest[] = []
  readonly #name: string
  /** Each drops what one open upstream knows of failures. */
  readonly forgets = new Set<() => void>()
  #answerer: UpstreamAnswerer

  constructor (name: string) {
    this.#name = name
    this.#answerer = () => {
      throw new StandInError(`The upstream ${name} has no stand-in. Add one before the call: ` +
        `catalog.upstream('${name}').answer(…), or the option upstreams of openCatalog for calls of a load.`)
    }
  }

  answer (answers: UpstreamAnswers): this {
    const [from, name] = [answers, this.#name]
    return this.#become(typeof from === 'function' ? toChecked(from, name) : toAnswerer(from, name))
  }

  fail (code: UpstreamErrorCode): this {
    return this.#become(() => { throw new CallError(code, new Error('the stand-in fails')) })
  }

  /** Earlier failures do not count: the circuit would be open for the next answer. */
  #become (answerer: UpstreamAnswerer): this {
    this.#answerer = answerer
    for (const forget of this.forgets) forget()
    return this
  }

  async take (request: UpstreamRequest): Promise<Response> {
    this.calls.push(request)
    const output = await this.#answerer(request)
    if (!(output instanceof Response)) return Response.json(output)
    // `Response.error()`: what fetch has when there is no answer.
    if (output.type === 'error') throw new CallError('unreachable', new Error('the stand-in has no answer'))
    return output.clone()
  }
}

function toChecked (answerer: UpstreamAnswerer, name: string): UpstreamAnswerer {
  return async (request) => {
    const output = await answerer(request)
    if (output !== undefined) return output
    throw new StandInError(`The stand-in of ${name} returned nothing for ${request.method} ` +
      `${quote(request.path)}. Return a Response, or a value that is sent as JSON.`)
  }
}

function toAnswerer (answers: { readonly [methodAndPath: string]: unknown }, name: string): UpstreamAnswerer {
  return ({ method, path }) => {
    const key = `${method} ${path}`
    if (Object.hasOwn(answers, key)) return answers[key]
    throw new StandInError(`The stand-in of ${name} has no answer for ${quote(key)}.`)
  }
}

/** The stand-ins of one catalog, by the names of its upstreams. */
export class StandIns {
  readonly #byName = new Map<string, StandIn>()

  /** @param answers what upstreams answer while the catalog is loaded, by name. */
  constructor (answers: { readonly [upstream: string]: UpstreamAnswers }) {
    for (const [name, answer] of Object.entries(answers)) this.#of(name).answer(answer)
  }

  /**
   * Throws an Error for an upstream that the catalog does not define.
   * @param defined the names of the upstreams of the catalog.
   */
  find (upstream: UpstreamDefinition | string, defined: readonly string[]): TestUpstream {
    // A test may have its own copy of the module that defines the upstream.
    const name = typeof upstream === 'string' ? upstream : upstream.name
    if (defined.includes(name)) return this.#of(name)
    const list = defined.length === 0 ? 'none' : defined.join(', ')
    throw new Error(`The catalog defines no upstream ${quote(name)}. It defines: ${list}.`)
  }

  readonly openTransport: OpenTransport = ({ name, url }, forget): Transport => {
    const standIn = this.#of(name)
    standIn.forgets.add(forget)
    return {
      dispatch: (request, handler) => {
        answerCall(handler, async () => await standIn.take(toUpstreamRequest(request, url)))
      },
      async close () { standIn.forgets.delete(forget) }
    }
  }

  #of (name: string): StandIn {
    const standIn = this.#byName.get(name) ?? new StandIn(name)
    this.#byName.set(name, standIn)
    return standIn
  }
}

function toUpstreamRequest (
  { method, path, headers, body, principal }: WireRequest, base: URL
): UpstreamRequest {
  const { pathname, searchParams } = new URL(path, base)
  const text = typeof body === 'string' ? body : Buffer.from(body ?? []).toString()
  return {
    method,
    path: pathname.slice(base.pathname.length),
    query: searchParams,
    headers,
    principal,
    text: () => text,
    json: () => JSON.parse(text)
  }
}

/** Does what undici does with a connection. */
async function answerCall (handler: AnswerHandler, answer: () => Promise<Response>): Promise<void> {
  const controller = new StandInController()
  handler.onRequestStart(controller)
  try {
    const { status, statusText, headers, body } = await answer()
    if (controller.aborted) return
    handler.onResponseStart(controller, status, toIncoming(headers), statusText)
    for await (const chunk of body ?? []) {
      await controller.ready
      if (controller.aborted) return
      handler.onResponseData(controller, Buffer.from(chunk))
    }
    handler.onResponseEnd()
  } catch (error) {
    if (!controller.aborted) handler.onResponseError(controller, toStandInError(error))
  }
}

function toStandInError (error: unknown): Error {
  if (error instanceof CallError || error instanceof StandInError) return error
  return new StandInError(`The stand-in threw: ${messageOf(error)}`, { cause: error })
}

function toIncoming (headers: Headers): IncomingHttpHeaders {
  return { ...Object.fromEntries(headers), 'set-cookie': headers.getSetCookie() }
}

class StandInController implements AnswerController {
  /** Resolves while the reader wants more. */
  ready = Promise.resolve()
  reason: Error | null = null
  #resume: (() => void) | undefined

  get aborted (): boolean { return this.reason !== null }
  get paused (): boolean { return this.#resume !== undefined }

  abort (reason: Error): void {
    this.reason ??= reason
    this.resume()
  }

  pause (): void {
    if (!this.paused) this.ready = new Promise((resolve) => { this.#resume = resolve })
  }

  resume (): void {
    this.#resume?.()
    this.#resume = undefined
  }
}
