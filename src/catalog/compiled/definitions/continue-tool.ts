// The tool of the service itself that continues the calls of others: for clients that have neither tasks nor,
// perhaps, elicitation. It is in a list only beside a tool that needs it.

import { defineTool } from '../../../platform/author/define-tool.ts'
import type { ReportProblem } from '../problem.ts'
import { waysToSee } from '../scopes/access-rule.ts'
import type { SchemaCompilers } from './compile-schema.ts'
import type { CompiledTool } from '../compiled-primitive.ts'
import { compileTool } from './compile-tool.ts'

export const CONTINUE_TOOL = 'continue_call'

/** The id of a task, and how often its model was told of it. */
const CALL = /^(task_[\w-]+?)(?:\.(\d{1,9}))?$/

/** Reads the argument `call`. A text of another form counts as an id. */
export function readCall (call: string): { readonly taskId: string, readonly count: number } {
  const [, taskId = call, count = '0'] = CALL.exec(call) ?? []
  return { taskId, count: Number(count) }
}

const definition = defineTool({
  name: CONTINUE_TOOL,
  title: 'Continue a call',
  description: 'Continues a call of another tool of this server that is still at work, or that asks a ' +
    'question. Call it only when the result of a call says so, with the arguments that the result names. ' +
    'It waits for the result of that call and returns it, or says that the call is still at work, or asks ' +
    'the next question.',
  inputSchema: {
    type: 'object',
    properties: {
      call: { type: 'string', description: 'The call, as the result of its tool names it.' },
      answers: {
        type: 'object',
        description: "The user's answers to the questions of the call: for each question an object of the " +
          'fields of its form, such as { "size": { "size": "L" } }. Only what the user has said.',
        // Said, because some hosts take its absence for `false`.
        additionalProperties: true
      },
      decline: { type: 'boolean', description: 'true if the user does not want to answer the questions.' },
      cancel: { type: 'boolean', description: 'true to stop the work of the call.' }
    },
    required: ['call'],
    additionalProperties: false
  },
  // After the tools of the catalog.
  order: Number.MAX_SAFE_INTEGER,
  run () { throw new TypeError('unreachable: the service itself continues calls') }
})

/**
 * Returns the tool, or `undefined` if no call of these tools goes on after its answer. A caller that sees one
 * of them sees this tool too.
 */
export function compileContinueTool (
  tools: readonly CompiledTool[], compilers: SchemaCompilers, report: ReportProblem
): CompiledTool | undefined {
  const continued = tools.filter(({ task }) => task !== undefined)
  if (continued.length === 0) return undefined
  const compiled = compileTool({ definition, file: 'trivet' }, compilers, report)
  const ways = new Map(continued.flatMap(waysToSee).map((scopes) => [JSON.stringify(scopes), scopes]))
  return compiled && { ...compiled, continuesCalls: true, seenWith: [...ways.values()] }
}
