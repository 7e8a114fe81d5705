// Runs a tool that decides itself who may call it with which arguments.

import type { Context } from '../../../platform/author/context.ts'
import type { ToolDefinition } from '../../../platform/author/define-tool.ts'
import { ToolError } from '../../../platform/author/tool-error.ts'
import { applyTo } from '../../../base/apply-to.ts'
import { ContractError } from '../results/result-json.ts'

/** The caller may not use the tool with these arguments. */
export class NotAllowed extends ToolError {}

/** Returns the output of `run`. Throws, or rejects with, NotAllowed if the caller is not allowed. */
export function runAuthorized (definition: ToolDefinition, args: unknown, ctx: Context): unknown {
  return applyTo(authorize(definition, args, ctx), () => definition.run(args, ctx))
}

/** Throws, or rejects with, NotAllowed if the caller is not allowed. */
export function authorize (definition: ToolDefinition, args: unknown, ctx: Context): void | Promise<void> {
  if (definition.authorize === undefined) return
  const decision: unknown = definition.authorize(ctx.principal, args, ctx)
  return applyTo(decision, (settled) => checkDecision(definition, settled))
}

/** Throws for any decision but `true`: an author may have forgotten a `return`. */
function checkDecision ({ name }: ToolDefinition, decision: unknown): void {
  if (decision === true) return
  if (typeof decision === 'string' && decision !== '') throw new NotAllowed(decision)
  if (decision === false || decision === '') {
    throw new NotAllowed(
      `You are not allowed to use ${name} with these arguments. ` +
      'The same call fails again: use other arguments, or tell the user.'
    )
  }
  throw new ContractError('authorize', ['must return true, false or a text for the model'])
}
