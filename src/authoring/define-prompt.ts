import type { PromptMessage } from '../protocol/content.ts'
import type { CompletionSource } from './completion.ts'
import type { Context } from './context.ts'
import { define, type CommonOptions, type Definition } from './definition.ts'

export interface PromptArgumentOptions {
  name: string
  title?: string
  description?: string
  /** `false` by default. */
  required?: boolean
  complete?: CompletionSource
}

/** A required argument is a string; any other may be missing. */
export type PromptArgumentsOf<A extends readonly PromptArgumentOptions[]> = {
  readonly [P in A[number] as P['name']]: P extends { required: true } ? string : string | undefined
}

/** A string is one message of the user. */
export type PromptOutput = string | readonly PromptMessage[] | { description?: string, messages: readonly PromptMessage[] }

export interface PromptOptions<A extends readonly PromptArgumentOptions[]> extends CommonOptions {
  /** In the order in which a client should ask for them. */
  arguments?: A
  /** Makes the messages. Every required argument is there. */
  render (args: PromptArgumentsOf<A>, ctx: Context): PromptOutput | Promise<PromptOutput>
}

export type PromptDefinition = Definition & CommonOptions & {
  readonly arguments?: readonly PromptArgumentOptions[]
  render (args: { readonly [name: string]: string | undefined }, ctx: Context): PromptOutput | Promise<PromptOutput>
}

/**
 * Defines a prompt: a template of messages that a user picks.
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
export function definePrompt<const A extends readonly PromptArgumentOptions[] = readonly []> (options: PromptOptions<A>): PromptDefinition {
  // Names and presence of the arguments have been checked by the time that `render` is called.
  return define('prompt', options) as unknown as PromptDefinition
}
