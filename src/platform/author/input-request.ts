// Input requests: what a handler may ask of the client during a request, and the answers.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import type { AudioContent, ImageContent, Meta, TextContent } from '../protocol/content.ts'
import type { FormContentOf, Schema } from './schema.ts'

/**
 * The answer to a form. `content` has passed the check against the form's schema.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
 */
export type FormAnswer<T> =
  { readonly action: 'accept', readonly content: T } | {
    readonly action: 'decline'
  } | { readonly action: 'cancel' }

/**
 * The answer to a URL. `accept` means that the user agreed to open it. The user may not have finished there.
 */
export interface UrlAnswer { readonly action: 'accept' | 'decline' | 'cancel' }

/**
 * One message for the client's model. `content` is a content block or a list of them.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#messages
 */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant'
  readonly content: unknown
  readonly _meta?: Meta
}

/**
 * The parameters of a question to the client's model, as the specification writes them.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams
 */
export interface SampleOptions {
  readonly messages: readonly SamplingMessage[]
  /** The longest answer, in tokens. At least 1. */
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly modelPreferences?: { readonly [key: string]: unknown }
  /** `none` by default. Any other value needs a client that declares `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  /** Needs a client that declares `sampling.tools`. */
  readonly tools?: ReadonlyArray<{ readonly [key: string]: unknown }>
  /** Needs a client that declares `sampling.tools`. */
  readonly toolChoice?: { readonly [key: string]: unknown }
  readonly metadata?: { readonly [key: string]: unknown }
}

/**
 * The model calls a tool. Run the tool, and send its result in the next question to the model.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#multi-turn-tool-loop
 */
export interface ToolUseContent {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: { readonly [key: string]: unknown }
}

/** One content block of the model's answer. */
export type SampledContent = TextContent | ImageContent | AudioContent | ToolUseContent

/**
 * The answer of the client's model.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#result-fields
 */
export interface SampleAnswer {
  readonly role: 'user' | 'assistant'
  readonly content: SampledContent | readonly SampledContent[]
  /** The name of the model that answered. */
  readonly model: string
  /** Such as `endTurn`, `stopSequence`, `maxTokens` or `toolUse`. */
  readonly stopReason?: string
}

/**
 * The roots of the client: folders and files that the service may work with, as `file://` URIs.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
export interface RootsAnswer {
  readonly roots: ReadonlyArray<{ readonly uri: string, readonly name?: string }>
}

export type InputKind = 'form' | 'url' | 'sample' | 'roots'

/** One question, made by `elicit.form`, `elicit.url`, `sample` or `roots`. `A` is the type of its answer. */
export interface InputRequest<A = unknown> {
  readonly kind: InputKind
  readonly params: { readonly [key: string]: unknown }
  readonly '~answer'?: A
}

/** The answers to the questions `R`, under the same keys. */
export type AnswersOf<R extends { readonly [key: string]: InputRequest }> = {
  readonly [K in keyof R]: R[K] extends InputRequest<infer A> ? A : never
}

/**
 * Questions to the client's user. Pass them to `ctx.ask`, which refuses a malformed question.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export const elicit = {
  /**
   * A form. `schema` is a flat object of strings, numbers, booleans and choices. The client must declare
   * `elicitation`. Never ask for a password, a key or payment data in a form: use `elicit.url`.
   * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
   *
   * @example
   * const schema = { type: 'object', properties: { gift: { type: 'boolean' } }, required: ['gift'] } as const
   * const { wrapping } = await ctx.ask({ wrapping: elicit.form({ message: 'Is it a gift?', schema }) })
   * const isGift = wrapping.action === 'accept' && wrapping.content.gift
   */
  form<const S extends Schema> (
    { message, schema }: { readonly message: string, readonly schema: S }
  ): InputRequest<FormAnswer<FormContentOf<S>>> {
    return { kind: 'form', params: { mode: 'form', message, requestedSchema: schema } }
  },
  /**
   * A page for the user to visit, for data that must not pass through the client. `url` is an absolute http
   * or https URL without credentials. The client must declare `elicitation.url`.
   * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests
   *
   * @example
   * const url = `https://pay.example.com/orders/${order}`
   * const { payment } = await ctx.ask({ payment: elicit.url({ message: 'Please pay the order.', url }) })
   */
  url ({ message, url }: { readonly message: string, readonly url: string }): InputRequest<UrlAnswer> {
    return { kind: 'url', params: { mode: 'url', message, url } }
  }
}

/**
 * A question to the client's model. Pass it to `ctx.ask`. The client must declare `sampling`.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 *
 * @example
 * const messages = [{ role: 'user', content: { type: 'text', text: `Sum this up: ${report}` } }] as const
 * const { summary } = await ctx.ask({ summary: sample({ messages, maxTokens: 300 }) })
 */
export function sample (options: SampleOptions): InputRequest<SampleAnswer> {
  return { kind: 'sample', params: { ...options } }
}

/**
 * Asks for the client's roots. Pass it to `ctx.ask`. The client must declare `roots`.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 *
 * @example
 * const { folders } = await ctx.ask({ folders: roots() })
 * const uris = folders.roots.map(({ uri }) => uri)
 */
export function roots (): InputRequest<RootsAnswer> {
  return { kind: 'roots', params: {} }
}
