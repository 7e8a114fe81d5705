// Compiles the definition of a prompt, and writes its results.

import type { CompletionSource } from '../../../platform/author/completion.ts'
import type { Context } from '../../../platform/author/context.ts'
import type { PromptDefinition, PromptOutput } from '../../../platform/author/define-prompt.ts'
import { quote } from '../../../base/words.ts'
import type { Prompt } from '../../../platform/protocol/primitives.ts'
import {
  type AuditRule, type CompiledPrimitive, type EntryMembers, toCompiledPrimitive
} from '../compiled-primitive.ts'
import type { Located } from '../contents.ts'
import { isCompletionSource } from '../lists/completions.ts'
import type { ReportProblem } from '../problem.ts'
import { checkMessages, checkMeta } from '../results/content-checks.ts'
import { toListJson, toMessageJson } from '../results/content-json.ts'
import { ContractError, type ResultWriter } from '../results/result-json.ts'
import { toAuditRule } from './audit-rule.ts'
import { findHandlerProblem, hasShape } from './check-definition.ts'
import { promptShape } from './definition-shapes.ts'

export type PromptArguments = { readonly [name: string]: string | undefined }

export interface CompiledPrompt extends CompiledPrimitive {
  readonly description: string | undefined
  readonly audit: AuditRule
  readonly timeoutMs: number | undefined
  readonly requiredArguments: readonly string[]
  /** The suggestions, by argument. An argument without suggestions has an empty list. */
  readonly completions: ReadonlyMap<string, CompletionSource>
  render (args: PromptArguments, ctx: Context): PromptOutput | Promise<PromptOutput>
}

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compilePrompt (
  located: Located<PromptDefinition>, report: ReportProblem
): CompiledPrompt | undefined {
  const { definition } = located
  if (!hasShape(promptShape, definition, report, findPromptProblems)) return undefined
  const { name, description, timeoutMs, arguments: args = [] } = definition
  return {
    ...toCompiledPrimitive(name, located, toPromptEntry(definition)),
    description,
    timeoutMs,
    audit: toAuditRule(definition, args.map((argument) => argument.name)),
    requiredArguments: args.filter(({ required }) => required === true).map((argument) => argument.name),
    completions: new Map(args.map((argument) => [argument.name, argument.complete ?? []])),
    render: (values, ctx) => definition.render(values, ctx)
  }
}

function findPromptProblems ({ name, render, arguments: args = [] }: PromptDefinition): string[] {
  const handlerProblem = findHandlerProblem(render)
  const names = args.map(({ name }) => name)
  const repeated = names.filter((name, index) => names.indexOf(name) !== index)
  const uncompletable = args.filter(
    ({ complete }) => complete !== undefined && !isCompletionSource(complete)
  )
  return [
    ...(handlerProblem === undefined ? [] : [`render: ${handlerProblem}`]),
    // Clients could not send it.
    ...[name, ...names].filter((text) => !text.isWellFormed()).map(
      (text) => `the name ${quote(text)} has half of a surrogate pair`
    ),
    ...repeated.map((name) => `arguments: ${JSON.stringify(name)} is named twice`),
    ...uncompletable.map(
      ({ name }) => `arguments.${name}.complete: must be a list of strings or a function`
    )
  ]
}

function toPromptEntry (
  { name, title, description, icons, _meta, arguments: args }: PromptDefinition
): EntryMembers<Prompt> {
  const entries = args?.map(({ complete, ...argument }) => argument)
  return { name, title, description, icons, arguments: entries, _meta }
}

/** Writes a GetPromptResult. Throws a ContractError when the messages are malformed. */
export function promptResult (
  writer: ResultWriter, output: PromptOutput, fallbackDescription: string | undefined
): string {
  const { description = fallbackDescription, messages, _meta } = toPromptMessages(output)
  const head = description === undefined ? '' : `"description":${JSON.stringify(description)},`
  const messagesJson = toListJson(writer.toMessages(messages), toMessageJson)
  return writer.write(`${head}"messages":${messagesJson}`, checkMeta(_meta))
}

/** Throws a ContractError when the messages are malformed. Those of a text need no check. */
function toPromptMessages (output: PromptOutput): Extract<PromptOutput, { messages: unknown }> {
  if (typeof output === 'string') {
    return { messages: [{ role: 'user', content: { type: 'text', text: output } }] }
  }
  const message = toOwnMessages(output)
  return { ...message, messages: checkMessages(message.messages) }
}

function toOwnMessages (
  output: Exclude<PromptOutput, string>
): Extract<PromptOutput, { messages: unknown }> {
  if (typeof output !== 'object' || output === null) {
    throw new ContractError('the output of render', ['must be a string or messages'])
  }
  if ('messages' in output) return output
  return { messages: output }
}
