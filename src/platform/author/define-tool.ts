// Defines a tool.

import type { Principal } from '../access/principal.ts'
import type { CallLimitOptions } from '../limits/call-limits.ts'
import type { ToolVisibility } from '../protocol/apps.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { ToolAnnotations } from '../protocol/primitives.ts'
import type { CommonOptions } from './common-options.ts'
import type { Context, UndoContext } from './context.ts'
import { define, type Definition } from './definition.ts'
import type { ArgumentsOf, Schema } from './schema.ts'
import type { ToolOutput } from './tool-result.ts'

/** What `defineTool` takes. `name` is 1 to 128 letters, digits, `_`, `-` and `.`. */
export interface ToolOptions<I, O> extends CommonOptions {
  /**
   * The schema of the arguments, an object schema. By default the tool takes no arguments. The model receives
   * the problems of arguments that do not match.
   *
   * A client mirrors a property with `x-mcp-header: 'Name'` in the header `Mcp-Param-Name`, for routing.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
   */
  inputSchema?: I
  /**
   * Whether lists show a choice at the top of `inputSchema` (`oneOf`, `anyOf`, `allOf`) as one object: many
   * hosts and models cannot follow one. The object has the properties of all branches, and requires what each
   * branch requires. Values of `const` and `enum` are joined, and other differences become `anyOf`. The
   * description of the tool then says which arguments go together. Arguments are checked by `inputSchema` as
   * you wrote it. `false` by default.
   */
  flattenUnion?: boolean
  /**
   * The schema of the structured content. A value that does not match is an internal error: the client does
   * not receive it. https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
   */
  outputSchema?: O
  /** Hints about the tool's behaviour, such as `{ readOnlyHint: true }`. */
  annotations?: ToolAnnotations
  /**
   * The capabilities that the client must declare, such as `{ sampling: {} }`. A client without them receives
   * error -32021; a client of an earlier revision receives a result with `isError`. None by default.
   */
  requiredCapabilities?: ClientCapabilities
  /**
   * How many calls may begin in a time, how many may run at once, and how large one may be:
   * `{ calls: '10/1m', running: 2, resultBytes: 100_000 }`. A call beyond a limit ends in a tool error that
   * says which limit it is, and how long to wait if that helps. None by default: only the limits of the
   * service hold.
   */
  limits?: CallLimitOptions
  /**
   * What happens to arguments that do not match `inputSchema` because of habits of models.
   * - `repair`: a text of JSON becomes its value where the schema takes an array, a number, a boolean or an
   *   object, but no text. Null for an optional argument that may not be null is left out. The same at any
   *   depth. No digit of a number is lost, and nothing changes that the schema may accept. Booleans are
   *   repaired only with `annotations: { readOnlyHint: true }`, and no argument with `x-mcp-header` is.
   *   `authorize`, `run` and the audit log get the repaired arguments.
   * - `strict`: the model receives the problems of its arguments as they came.
   *
   * What `arguments` of server.yaml says by default, and without that `repair`.
   */
  arguments?: 'repair' | 'strict'
  /**
   * Whether a repeated call gets the first answer instead of running again, for a minute and on any replica.
   * Calls are the same if one principal sends them with the same header `Idempotency-Key`; or, in a session
   * of an earlier revision, with the same JSON-RPC id and the same arguments. A call of revision 2026-07-28
   * without the header is an ordinary one. A repetition waits while the first call runs. If the replica of
   * the first call is lost, a repetition runs the call again after 15 seconds. Internal errors, time limits,
   * questions to the client, and results of more than 65,536 characters are not kept, nor is a new answer
   * while a principal has 1,000: such calls run again. Needs `annotations: { idempotentHint: true }` for
   * these reasons. While the state store is away, calls end with error 503. `false` by default.
   */
  dedupe?: boolean
  /**
   * Whether a call may go on after its request was answered, on any replica. Such a call is kept in the state
   * store before its first step, sleep of a second or more, or question, or when it has run for a second.
   * - `never`: each call is answered with its result.
   * - `allowed`: a client that declares the extension io.modelcontextprotocol/tasks gets a task if the call
   *   takes longer than a second, or sleeps. Every other client waits for the result, up to
   *   TRIVET_TASK_WAIT_MS. Then its model is told that the work goes on, and gets the result from the
   *   service's own tool `continue_call`.
   * - `required`: as `allowed`, but each call of a client with the extension becomes a task, and a client of
   *   revision 2026-07-28 without it receives error -32021.
   *
   * A call with the header `Idempotency-Key`, or with the same JSON-RPC id and arguments in one session,
   * meets the first such call once that is kept. A client with the extension is asked a question of the first
   * second, before the first step, before there is a task. `never` by default. Not together with `dedupe`.
   * https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md
   */
  task?: 'never' | 'allowed' | 'required'
  /**
   * The time limit of a task from its call on, in milliseconds: from 1000 to 2,592,000,000 (30 days). Time in
   * which it sleeps, or waits for answers, counts. A task that takes longer fails. `timeoutMs` does not limit
   * a task. 3,600,000 (an hour) by default.
   */
  ttlMs?: number
  /**
   * How long a task is kept at least after its end, in milliseconds, so that the client can get its result:
   * from 1000 to 2,592,000,000. 3,600,000 (an hour) by default.
   */
  keepResultMs?: number
  /**
   * What happens to a task when the replica that runs it is lost, or ends before the task does.
   * - `fail`: the task fails, with an error that says so.
   * - `rerun`: another replica, or the same one after its restart, calls `run` again from its first line.
   *   Steps that had ended (`ctx.once`, `ctx.step`, `ctx.sleep`) and answers are not repeated. Put every
   *   side effect into a step. The same happens when `run` fails because the store cannot be reached, and
   *   throws no ToolError.
   *
   * A task also runs again from its first line after an answer of its client, and after a `ctx.sleep` of a
   * second or more, whatever this says. `fail` by default.
   */
  onReplicaLoss?: 'fail' | 'rerun'
  /**
   * What happens to a task when it is to run again and the code of the tool has changed since the task began:
   * the module of the tool, or what that imports. The version of a package counts; files that the code reads
   * do not. The tool as it is then decides, not as it was.
   * - `resume`: the task goes on in the new code, which finds the results of the steps of the old one.
   * - `fail`: the task fails, with an error that says so, unless a replica with the old code runs it within
   *   TRIVET_TASK_LEASE_MS.
   *
   * `resume` by default, and for tools that come from no file.
   */
  onDeploy?: 'resume' | 'fail'
  /**
   * Whether the model may put the questions of `ctx.ask` to its user in the conversation, and pass on the
   * answers, if its client lacks elicitation. The model then gets the question as a result, and answers with
   * the tool `continue_call`. The answers are checked against the form's schema.
   * - `true`: the model passes on forms, and shows the links of `elicit.url`. It could answer a form by
   *   itself, and nobody can tell: never use it for consent, for payments, or for anything that the user must
   *   say in person.
   * - `'links'`: the model shows links. A form is an error for clients without elicitation.
   * - `false`: both are errors, but a tool with `task` relays links in any case.
   *
   * `false` by default. Not together with `dedupe`.
   */
  relayQuestions?: boolean | 'links'
  /**
   * The screen that hosts show for the results of this tool: the name of a folder in apps/. Hosts get the
   * result too. Hosts without screens get only the result, so `content` must say everything by itself. None
   * by default. Not together with a `ui` in `_meta`.
   *
   * The list has the URI of the screen as `_meta.ui.resourceUri`, and as `_meta['ui/resourceUri']` for older
   * hosts. A name without an app keeps the catalog from loading.
   * https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#resource-discovery
   */
  ui?: string
  /**
  * The callers of the tool: the `model`, the screens of this service (`app`), or both. Hosts with screens
   * obey it: the service cannot tell who has made a call. All other hosts offer each tool to the model. To
   * keep callers out, use `scopes`. `['model', 'app']` by default.
   * https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#visibility
   */
  visibility?: readonly ToolVisibility[]
  /**
   * Decides what scopes cannot say, such as whether the records belong to the caller's tenant. Called before
   * each `run`, with arguments that have passed the check; again with each answer of a client that `run` has
   * asked. `run` is called only for `true`. For `false` the model receives a tool error that these arguments
   * are not allowed, and for a string that text as the error. None by default.
   *
   * What it throws is handled as if `run` had thrown it. Any other output is an internal error.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
   *
   * @example
   * async authorize ({ claims }, { orderId }) {
   *   return await orders.tenantOf(orderId) === claims?.tenant || `There is no order ${orderId}.`
   * }
   */
  authorize? (
    principal: Principal, args: ArgumentsOf<I>, ctx: Context
  ): boolean | string | Promise<boolean | string>
  /**
   * Does the work. `args` have passed the check against `inputSchema`, and hold its defaults.
   *
   * The model receives the message of a ToolError. Anything else that `run` throws is an internal error: the
   * log has the cause, and the client does not receive it.
   */
  run (args: ArgumentsOf<I>, ctx: Context): ToolOutput<O> | Promise<ToolOutput<O>>
  /**
   * Undoes the work of a task that has ended without success: it was cancelled, has failed for any reason,
   * or has a result with `isError`, as after a ToolError. Called when the client has learnt of the end, which
   * it does not change, with the arguments and the rights of the task. It has a journal of its own:
   * `ctx.once`, `ctx.step` and `ctx.sleep` work as in `run`, and it runs again when its replica is lost,
   * whatever `onReplicaLoss` says. `ctx.resultOf` has the results of the task's steps.
   *
   * A step that was under way at the end may have done its work, and may end beside `undo`: undo by a key
   * that you chose before, and take it well that there is nothing to undo. `undo` begins at once, or within
   * `TRIVET_TASK_LEASE_MS` after a cancel of a handler that runs. `ctx.ask` rejects: nobody is there.
   *
   * What it returns is ignored. If it rejects, or has not ended when `keepResultMs` is nearly over, the work
   * is not undone: the log and the metric `trivet_undos_total` say so. Until then the task counts as one that
   * has not ended. Needs `task`. None by default.
   *
   * @example
   * async undo ({ cart_id }, ctx) {
   *   await ctx.step('cancel', { retries: 10 }, () => shop.cancelOrderOf(cart_id))
   * }
   */
  undo? (args: ArgumentsOf<I>, ctx: UndoContext): unknown
}

/** A tool, made by `defineTool`. The types of its schemas are no longer visible. */
export type ToolDefinition = Definition & CommonOptions & Readonly<
  Omit<ToolOptions<object, object>, keyof CommonOptions | 'authorize' | 'run' | 'undo'>
> & {
  authorize? (
    principal: Principal, args: unknown, ctx: Context
  ): boolean | string | Promise<boolean | string>
  run (args: unknown, ctx: Context): unknown
  undo? (args: unknown, ctx: UndoContext): unknown
}

/**
 * Defines a tool: a function that a model can call. The arguments of `run` are typed from `inputSchema`, its
 * result from `outputSchema`. Export the definition from a module in tools/.
 *
 * A definition that is not valid keeps the catalog from loading, with the file and the field in the log.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 *
 * @example
 * export default defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   inputSchema: {
 *     type: 'object',
 *     properties: { a: { type: 'number' }, b: { type: 'number' } },
 *     required: ['a', 'b']
 *   },
 *   run: ({ a, b }) => `${a + b}`
 * })
 */
export function defineTool<
  const I extends Schema | undefined = undefined, const O extends Schema | undefined = undefined
> (options: ToolOptions<I, O>): ToolDefinition {
  // The service checks the arguments before it calls `run`: their type then holds.
  return define('tool', options) as unknown as ToolDefinition
}
