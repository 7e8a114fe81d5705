// What a handler may ask of the client in the middle of a request, and what comes back.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import type { AudioContent, ImageContent, Meta, TextContent } from '../protocol/content.ts'
import type { FormContentOf, Schema } from './schema.ts'

/** An answer of the client's user to a form. */
export type FormAnswer<T> = { readonly action: 'accept', readonly content: T } | { readonly action: 'decline' } | { readonly action: 'cancel' }

/** An answer to a URL: `accept` means only that the user agreed to open it. */
export interface UrlAnswer { readonly action: 'accept' | 'decline' | 'cancel' }

export interface SamplingMessage { readonly role: 'user' | 'assistant', readonly content: unknown, readonly _meta?: Meta }

/** What the client's model is asked. https://modelcontextprotocol.io/specification/2026-07-28/client/sampling */
export interface SampleOptions {
  readonly messages: readonly SamplingMessage[]
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly modelPreferences?: { readonly [key: string]: unknown }
  /** Other than `none` only for a client that declares `sampling.context`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  /** Only for a client that declares `sampling.tools`, and so is `toolChoice`. */
  readonly tools?: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly toolChoice?: { readonly [key: string]: unknown }
  readonly metadata?: { readonly [key: string]: unknown }
}

/** The model wants a tool used: its result goes into the next message that the model is asked with. */
export interface ToolUseContent { readonly type: 'tool_use', readonly id: string, readonly name: string, readonly input: { readonly [key: string]: unknown } }

export type SampledContent = TextContent | ImageContent | AudioContent | ToolUseContent

/** What the client's model said. */
export interface SampleAnswer {
  readonly role: 'user' | 'assistant'
  readonly content: SampledContent | readonly SampledContent[]
  readonly model: string
  readonly stopReason?: string
}

export interface RootsAnswer { readonly roots: ReadonlyArray<{ readonly uri: string, readonly name?: string }> }

export type InputKind = 'form' | 'url' | 'sample' | 'roots'

/** One question, made by `elicit.form`, `elicit.url`, `sample` or `roots`. `A` is what the answer will be. */
export interface InputRequest<A = unknown> {
  readonly kind: InputKind
  readonly params: { readonly [key: string]: unknown }
  readonly '~answer'?: A
}

export type AnswersOf<R extends { readonly [key: string]: InputRequest }> = {
  readonly [K in keyof R]: R[K] extends InputRequest<infer A> ? A : never
}

/**
 * Questions for the client's user.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export const elicit = {
  /**
   * A form. `schema` is a flat object of strings, numbers, booleans and choices, as the specification has it.
   * Never ask for a password, a key or payment data in a form: use `elicit.url`.
   */
  form<const S extends Schema> ({ message, schema }: { readonly message: string, readonly schema: S }): InputRequest<FormAnswer<FormContentOf<S>>> {
    return { kind: 'form', params: { mode: 'form', message, requestedSchema: schema } }
  },
  /** A page to visit, for what must not pass through the client. The client must declare `elicitation.url`. */
  url ({ message, url }: { readonly message: string, readonly url: string }): InputRequest<UrlAnswer> {
    return { kind: 'url', params: { mode: 'url', message, url } }
  }
}

/** Has the client's model answer. The client must declare `sampling`. */
export function sample (options: SampleOptions): InputRequest<SampleAnswer> {
  return { kind: 'sample', params: { ...options } }
}

/** Asks for the client's roots. The client must declare `roots`. */
export function roots (): InputRequest<RootsAnswer> {
  return { kind: 'roots', params: {} }
}
