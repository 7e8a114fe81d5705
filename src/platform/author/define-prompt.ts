// Defines a prompt.

import type { Meta, PromptMessage } from '../protocol/content.ts'
import type { CommonOptions } from './common-options.ts'
import type { CompletionSource } from './completion.ts'
import type { Context } from './context.ts'
import { define, type Definition } from './definition.ts'

/**
 * An argument of a prompt.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#promptargument
 */
export interface PromptArgumentOptions {
  /** Unique in the prompt. */
  name: string
  /** The name that people see. `name` by default. */
  title?: string
  description?: string
  /** Whether a request must carry the argument. `false` by default. */
  required?: boolean
  /** Suggestions for the value. None by default. */
  complete?: CompletionSource
}

/** The type of the arguments: a required one is a string, any other may be `undefined`. */
type PromptArgumentsOf<A extends readonly PromptArgumentOptions[]> = {
  readonly [P in A[number] as P['name']]: P extends { required: true } ? string : string | undefined
}

/**
 * What `render` returns: a string (one message of the user), messages, or messages with a description and
 * `_meta` for the client. The description of the definition is the default.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresult
 */
export type PromptOutput = string | readonly PromptMessage[] | {
  description?: string
  messages: readonly PromptMessage[]
  _meta?: Meta
}

/** What `definePrompt` takes. */
export interface PromptOptions<A extends readonly PromptArgumentOptions[]> extends CommonOptions {
  /** In the order in which a client asks for them. None by default. */
  // Not only `A`: the parameters of a function within would then have no types.
  arguments?: { readonly [I in keyof A]: A[I] & PromptArgumentOptions }
  /**
   * Makes the messages. The service has checked the names of the arguments, and that each required one is
   * there; a request that fails the check receives error -32602.
   *
   * The client receives the message of a ToolError as a JSON-RPC error. A HandleError becomes error -32602.
   * Anything else that `render` throws is an internal error.
   */
  render (args: PromptArgumentsOf<A>, ctx: Context): PromptOutput | Promise<PromptOutput>
}

/** A prompt, made by `definePrompt`. */
export type PromptDefinition = Definition & CommonOptions & {
  readonly arguments?: readonly PromptArgumentOptions[]
  render (args: {
    readonly [name: string]: string | undefined
  }, ctx: Context): PromptOutput | Promise<PromptOutput>
}

/**
 * Defines a prompt: a template of messages that a user picks. Export the definition from a module in
 * prompts/.
 *
 * A definition that is not valid keeps the catalog from loading, with the file and the field in the log.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 *
 * @example
 * export default definePrompt({
 *   name: 'summarise',
 *   description: 'Summarises a text.',
 *   arguments: [{ name: 'text', required: true }, { name: 'tone', complete: ['dry', 'warm'] }],
 *   render: ({ text, tone = 'dry' }) => `Summarise in a ${tone} tone:\n\n${text}`
 * })
 */
export function definePrompt<const A extends readonly PromptArgumentOptions[] = readonly []> (
  options: PromptOptions<A>
): PromptDefinition {
  // The service checks the arguments before it calls `render`: their type then holds.
  return define('prompt', options) as unknown as PromptDefinition
}
