// Runs a tool that decides itself who may call it with which arguments.

import type { Context } from '../../../author/context.ts'
import type { ToolDefinition } from '../../../author/define-tool.ts'
import { ToolError } from '../../../author/tool-error.ts'
import { ContractError } from '../results/result-json.ts'

/** The caller may not use the tool with these arguments. */
export class NotAllowed extends ToolError {}

/** Returns the output of `run`. Throws, or rejects with, NotAllowed if the caller is not allowed. */
export function runAuthorized (definition: ToolDefinition, args: unknown, ctx: Context): unknown {
  const decided = definition.authorize?.(ctx.principal, args, ctx)
  if (decided instanceof Promise) {
    return decided.then((settled) => {
      checkDecision(definition, settled)
      return definition.run(args, ctx)
    })
  }
  checkDecision(definition, decided)
  return definition.run(args, ctx)
}

/** Only `true` allows: an author may have forgotten a `return`. */
function checkDecision ({ name }: ToolDefinition, decided: unknown): void {
  if (decided === true) return
  if (typeof decided === 'string' && decided !== '') throw new NotAllowed(decided)
  if (decided === false || decided === '') {
    throw new NotAllowed(
      `You are not allowed to use ${name} with these arguments. ` +
      'The same call fails again: use other arguments, or tell the user.'
    )
  }
  throw new ContractError('authorize', ['must return true, false or a text for the model'])
}
