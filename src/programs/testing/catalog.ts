// A catalog in a test, and its callers.

import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import type { Completion } from '../../platform/protocol/completion.ts'
import type { ContentBlock } from '../../platform/protocol/content.ts'
import type { TestDownload } from './files.ts'
import type { AnswerOptions, TestCallOptions, TestCallerOptions, TestClient } from './options.ts'
import type { CallResult, CatalogLists, PromptResult, ReadResult } from './results.ts'
import type { ReplayOptions, ReplayResult } from './replay.ts'
import type { TestTask } from './task.ts'
import type { TestUpstream } from './upstreams.ts'

/**
 * One caller of a catalog. Its requests take the way of served ones: schemas, defaults, scopes, `authorize`,
 * limits, time limits and the check of the output hold.
 *
 * Every method rejects with a RequestError if the answer is a JSON-RPC error. Arguments are sent as JSON: a
 * member that is `undefined` is left out.
 */
export interface TestCaller {
  /**
   * Calls a tool. A tool error is a result with `isError: true`; so are arguments that do not match the
   * schema, and a limit that is reached. Rejects with a QuestionError for a question without an answer, and
   * with an AnswerError for an answer that no question used.
   *
   * `T` types the structured content. It is not checked: the tool's `outputSchema` is.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
   *
   * @example const found = await shop.call<{ books: Book[] }>('search_books', { query: 'whale' })
   */
  call<T = { readonly [key: string]: unknown } | undefined> (
    name: string, args?: object, options?: TestCallOptions
  ): Promise<CallResult<T>>
  /**
   * Begins a call that becomes a task, and resolves once the client knows of it: in a plain host when the
   * model is told to continue the call, after `taskWaitMs` or with a question. Questions that are open then,
   * and those after them, are answered if the options have the answers. `call` does the same and waits
   * for the result. Rejects as `call` does, and with an Error if the call makes no task: it ended within the
   * grace time (`taskGraceMs`), or its tool has no tasks.
   * https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md
   *
   * @example
   * const task = await shop.begin('remind_me', { hours: 24 })
   * shop.advance(86_400_000)
   * const { text } = await task.result()
   */
  begin (name: string, args?: object, options?: AnswerOptions): Promise<TestTask>
  /**
   * Renders a prompt. Rejects as `call` does for questions and answers.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt
   */
  prompt (
    name: string, args?: { readonly [name: string]: string }, options?: AnswerOptions
  ): Promise<PromptResult>
  /**
   * Reads a resource, such as `file:///policies/returns.md`. Rejects as `call` does for questions and
   * answers.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources
   */
  read (uri: string, options?: AnswerOptions): Promise<ReadResult>
  /**
   * Lists all that this caller sees. Primitives whose scopes it lacks are left out. What templates list is
   * up to date with each `ctx.notify.listChanged`. As in production, a list whose `listTtlMs` is over is made
   * again after the first `list` that shows the old one.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
   */
  list (): Promise<CatalogLists>
  /**
   * Completes an argument of a prompt, or a variable of a resource template.
   * @param typed what the user has typed so far.
   * @param values the values of the other arguments. None by default.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
   *
   * @example const { values } = await shop.complete({ prompt: 'recommend_a_book' }, 'genre', 'go')
   */
  complete (
    of: { readonly prompt: string } | { readonly template: string }, argument: string, typed: string,
    values?: { readonly [name: string]: string }
  ): Promise<Completion>
  /**
   * Another caller of the same catalog and the same state. Without a subject it is anonymous.
   *
   * @example
   * const ada = shop.as({ subject: 'ada', scopes: ['orders:write'] })
   * const plain = shop.as({ host: 'plain' })
   */
  as (caller?: TestCallerOptions, client?: TestClient): TestCaller
}

/** A catalog in the process of a test. As a caller it is anonymous and has no scopes. */
export interface TestCatalog extends TestCaller {
  /**
   * Moves the clock by this many milliseconds, at once: of handles, tasks and their sleeps, request states,
   * the answers that `dedupe` keeps, and limits of calls in a time. It goes on at its usual pace from there.
   * `Date`, timers and the time limits of handlers do not move. Throws a RangeError for a number that is
   * negative or not finite.
   */
  advance (ms: number): void
  /**
   * Stands for an upstream of the catalog, so that no test calls it: no upstream without a stand-in is
   * called, but the call ends in an error that says so. Throws an Error for an upstream that the catalog does
   * not define.
   * @param upstream the definition, or its name.
   *
   * @example
   * const crm = shop.upstream('crm').answer({ 'GET customers/7': { id: 7, name: 'Ada' } })
   * await shop.call('get_customer', { id: 7 })
   * assert.equal(crm.calls.length, 1)
   */
  upstream (upstream: UpstreamDefinition | string): TestUpstream
  /**
   * Follows a link of `ctx.files.put`, or one of `ctx.linkResource` to a large file, as a browser does.
   * Rejects with an Error that has the status if the link does not work.
   *
   * @example
   * const { content: [link] } = await shop.call('export_orders')
   * const { name, bytes } = await shop.download(link)
   */
  download (link: string | ContentBlock | undefined): Promise<TestDownload>
  /**
   * Runs the handler of a tool against the recording of a task, which `trivet tasks show ID --recording`
   * prints: would the task go on with this catalog? Steps, questions and sleeps have the outcome that is
   * recorded, and the run ends where the recording does, at the latest after 30 seconds: no step is done,
   * nobody is asked and nothing sleeps. What the handler does outside of them is done: its `authorize`, and
   * what it reads of handles, files and settings, which are those of this catalog. A branch of a
   * `Promise.all` that takes half a second for that counts as one that goes no further.
   *
   * If the work of the task was to be undone, `undo` runs instead, against its own journal.
   *
   * A recording without values needs `args` in the options. A value that it lacks may be passed on, and ends
   * the replay with `lacks` when it is read. But `if (value)` takes it as true, and `===` as different from
   * all others: without values, what is found may come from that. A recording of `--values` has them.
   *
   * Rejects with a RecordingError for a document that is no recording, for one of a newer release, and for a
   * tool that the catalog lacks; and with an Error if a limit of calls is reached: a replay counts as one.
   *
   * @example
   * const recording = JSON.parse(await readFile('recordings/print-book.json', 'utf8'))
   * const { fits, difference, lacks } = await shop.replay(recording)
   * assert.ok(fits, JSON.stringify({ difference, lacks }))
   */
  replay (recording: unknown, options?: ReplayOptions): Promise<ReplayResult>
  /** Waits for requests that are being served, and ends the service. Its state is lost. Idempotent. */
  close (): Promise<void>
  /** Closes the catalog at the end of a block with `await using`. */
  [Symbol.asyncDispose] (): Promise<void>
}
