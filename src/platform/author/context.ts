// The context of a handler: the facts of its request, and the actions that it may take during the request.

import type { Principal } from '../access/principal.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { EmbeddedResource, Meta, ResourceContents, ResourceLink } from '../protocol/content.ts'
import type { Implementation } from '../protocol/primitives.ts'
import type { DependencyDefinition } from './define-dependency.ts'
import type { HandleDefinition } from './define-handle.ts'
import type { SettingsDefinition } from './define-settings.ts'
import type { UpstreamDefinition } from './define-upstream.ts'
import type { Files } from './files.ts'
import type { Handles } from './handles.ts'
import type { AnswersOf, InputRequest } from './input-request.ts'
import type { Log } from './log.ts'
import type { UpstreamInit } from './upstream-fetch.ts'

/** How `ctx.step` calls its function. */
export interface StepOptions {
  /**
   * How often the function is called again after it threw: an integer from 0 to 100. 0 by default. A
   * ToolError ends the step, unless a handle threw it because the store is away, or `ctx.fetch` because the
   * upstream may answer later: with the code `timeout`, `unreachable`, `busy` or `unavailable`.
   */
  readonly retries?: number
  /**
   * The pause before the first retry, in milliseconds, at most 60,000. It doubles with each further retry,
   * up to 60,000, and is shortened by up to a half at random. 1000 by default.
   */
  readonly backoffMs?: number
  /** The time limit of each attempt, in milliseconds. Its signal aborts then. None by default. */
  readonly timeoutMs?: number
}

/** How `ctx.sleep` sleeps. */
export interface SleepOptions {
  /**
   * Tells the sleeps of a handler apart, as the key of a step does. Their order and their length do by
   * default. With a key the length may differ from run to run: the first one counts. It must not be a number.
   */
  readonly key?: string
}

/** One request, as a handler sees it. */
export interface Context {
  /**
   * Aborts when the client is gone, the timeout has passed or the service is shutting down. Pass it to each
   * call that waits.
   */
  readonly signal: AbortSignal
  /**
  * The caller of the request, from the verified access token: `subject`, `clientId`, `issuer`, `scopes`,
   * `claims`, and `expiresAt` in milliseconds since 1970. An anonymous caller has no subject and no scopes.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
   *
   * @example if (ctx.principal.claims?.tenant !== order.tenant) throw new ToolError('No such order.')
   */
  readonly principal: Principal
  /** What the client declared in this request. `info` is not verified: use it for display and logs only. */
  readonly client: { readonly info: Implementation | undefined, readonly capabilities: ClientCapabilities }
  /** The protocol revision of this request, such as `2026-07-28`. */
  readonly revision: string
  /** The id of this request in the service's log. */
  readonly requestId: string
  /**
   * The `_meta` of this request as the client sent it, frozen, without the members that `ctx` has elsewhere:
   * the revision, what the client declared, its log level and its progress token. None of it is verified.
   * `{}` if the client sent nothing else.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
   *
   * @example await fetch(url, { headers: { traceparent: String(ctx.meta.traceparent) } })
   */
  readonly meta: Readonly<Meta>
  /**
   * Writes under the id of this request. The client receives a message too, if its request asked for messages
   * of this level. `data` must be JSON: the client receives the message without it otherwise.
   *
   * What a handler writes with `console` goes only to the service's log: a line of level `info`, or `warn`
   * for `console.warn` and `console.error`, with `reqId`, `method` and `name` of the request. So does each
   * line for `process.stdout` and `process.stderr`. A line of a package has these fields if the handler's own
   * module, or a module of the catalog that it imports, says `console`, `stdout` or `stderr` too.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
   */
  readonly log: Log
  /** Tells clients about changes. */
  readonly notify: {
    /**
     * Tells every client that subscribed to this URI or to a directory above it, on every replica. With
     * `private` only the subscribers that act for the same principal are told: use it for a resource that
     * only this principal may read. `private` is `false` by default.
     * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
     */
    resourceUpdated (uri: string, options?: { readonly private?: boolean }): void
    /**
     * Says that the resources which templates list have changed. Every replica calls the `list` of every
     * template again, within a few seconds and at most once a second, however often this is called. Then
     * the clients are told whose `resources/list` differs. Tools and prompts change only with the catalog's
     * files: any other argument than `resources` throws a TypeError.
     * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#list-changed-notification
     *
     * @example ctx.notify.listChanged('resources')
     */
    listChanged (list: 'resources'): void
  }
  /**
   * Tells the client the progress of this request, if the client asked for progress. In a task it becomes the
   * status message: `message`, or the numbers, cut after 1000 characters, written once a second at most.
   * `done` must increase with each call: the service drops any other value, also what an earlier run of the
   * task has told. `total` has the unit of `done`.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
   */
  progress (done: number, total?: number, message?: string): void
  /**
   * Closes the connection of a client of revision 2025-11-25 while the handler continues. The client
   * reconnects after `retryMs` milliseconds (1000 by default) and receives the result then. For work that
   * takes longer than proxies allow. Does nothing for a client of any other revision.
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
   */
  disconnectLegacyClient (retryMs?: number): void
  /**
   * The caller's handles of one kind. Throws an Error for a definition that was made after the catalog had
   * loaded, or by another copy of this package in a module that does not export it.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#stateful-tools
   */
  handles<T> (kind: HandleDefinition<T>): Handles<T>
  /** The values of settings, as they were when the catalog loaded. Throws an Error as `handles` does. */
  settings<V> (definition: SettingsDefinition<V>): V
  /**
   * The open value of a dependency. It stays open until this request has ended: do not keep it for longer.
   * Throws an Error as `handles` does.
   *
   * @example const { rows } = await ctx.use(database).query('select * from orders where id = $1', [id])
   */
  use<T> (definition: DependencyDefinition<T>): T
  /**
   * Calls an upstream, and says who calls as its definition has it. Resolves to the answer when its head is
   * there, whatever its status, as the `fetch` of the platform does; `url` of the answer is empty.
   *
   * `path` is relative to the URL of the upstream, without a slash at its beginning: `customers/7`. It cannot
   * leave that URL: absolute URLs, `..`, `\`, `#` and control characters are refused, encoded ones too.
   * Encode what comes from arguments with `encodeURIComponent`, and put it into `query` where it is a query.
   *
   * The time of the call, with its body, is `limits.timeoutMs` of the upstream, and never longer than that of
   * this request. What has not been read when the request ends is dropped, and the call ends with the
   * request. Redirects are followed for GET and HEAD, five at most, within the URL of the upstream.
   *
   * Rejects with an UpstreamError if there is no answer; its `code` says why, and its message is for a model.
   * Reading the body rejects with one too, if the rest does not come. Rejects with a TypeError for a path, a
   * header or another option that is not valid, and for an upstream that `upstreams` of the definition does
   * not name. Rejects as `handles` does for an unknown definition.
   *
   * @example
   * const answer = await ctx.fetch(crm, `customers/${encodeURIComponent(id)}`, { accept: 'application/json'
   * }) if (answer.status === 404) throw new ToolError(`No customer ${id}.`) const customer = await
   * answer.json()
   */
  fetch (upstream: UpstreamDefinition, path: string, init?: UpstreamInit): Promise<Response>
  /**
   * Reads a resource of this catalog, as `resources/read` would for the same caller: files, fixed resources
   * and templates. Resolves to its contents, at least one: `text`, or bytes as base64 in `blob`.
   *
   * Rejects with a ToolError for a URI that is unknown or hidden from the caller, for a resource that is too
   * large, and for resources that read each other more than 8 deep. What the `read` of the resource throws is
   * thrown here too. If the caller lacks the scopes of a resource with `whenMissing: 'challenge'`, the client
   * is asked for them: do not catch that. The time counts as time of this handler.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources
   *
   * @example const [policy] = await ctx.readResource('file:///policies/returns.md')
   */
  readResource (uri: string): Promise<readonly ResourceContents[]>
  /**
   * Reads a resource of this catalog, as `readResource` does, into a content block for a result or a message.
   * Of a resource with several contents the block has the first. For a file of more than 1 MiB the
   * block is the link of `linkResource`, and the file is not read.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#embedded-resources
   *
   * @example return { content: [await ctx.embedResource('file:///policies/returns.md')] }
   */
  embedResource (uri: string): Promise<EmbeddedResource | ResourceLink>
  /**
   * A content block that links to a resource of this catalog, without reading it. It has the name, the title,
   * the description, the MIME type and the size of the entry in `resources/list`; those of the template for a
   * resource that is not listed. Throws as `readResource` does where no resource and no template that the
   * caller sees has the URI. The link of a template does not tell whether the resource exists.
   *
   * For a file of more than 1 MiB `uri` is an https URL, as `files.put` makes it: clients cannot take such a
   * file from a message. It works for one day. A service that does not know its public URL gives the URI of
   * the resource.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#resource-links
   *
   * @example return { content: [ctx.linkResource(`book://${id}`)] }
   */
  linkResource (uri: string): ResourceLink
  /** Hands out large files by links, and takes files from the user. */
  readonly files: Files
  /**
   * Asks the client for input: its user (`elicit`), its model (`sample`) or its roots (`roots`). Resolves to
   * the answers under the keys of the requests. Each key names one question of the handler. A handler may ask
   * several questions at once, and may ask again later.
   *
   * While answers are missing, `ask` rejects and the handler ends: the client is asked, and the handler runs
   * again from its first line when the client has answered. Put work that must run only once before an `ask`
   * into `once`. The rejection is not an error: do not catch it.
   *
   * A client without the needed capability receives error -32021, which names the capability. The client is
   * asked again for an answer that does not fit the question. A malformed question is an internal error.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
   *
   * @example
   * const { size } = await ctx.ask({ size: elicit.form({ message: 'Which size?', schema }) })
   * if (size.action !== 'accept') return 'Nothing was ordered.'
   */
  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>>
  /**
   * Calls `fn` once for the whole request, however often the handler runs again after an `ask`. The first
   * result is carried to the next run, through the client and sealed. It must be a JSON value or `undefined`;
   * otherwise `once` rejects. All results and answers of one request together may take 32,768 bytes as JSON.
   *
   * A client can send the last round twice, and then `fn` is not called again but the code after it runs
   * twice. Keep work that must never happen twice under a handle, with `update`.
   *
   * In a task the service keeps the result, before `once` resolves. If the replica is lost while `fn` runs,
   * `fn` is called again: it is called at least once, and one result is recorded. A failure that the handler
   * catches is recorded too: the next run gets an error of the same name and message. All results and answers
   * of one task together may take 262,144 bytes as JSON.
   *
   * Rejects with an Error if the key names other work of this run, unless that work has failed. Rejects too
   * if the key ends as the names of further attempts do, such as `pay (attempt 2)`.
   *
   * Each run of a task must come to its steps, questions and sleeps in the order of the runs before, those
   * within one `Promise.all` in any order. Otherwise the task fails, and the log has the file, what was
   * expected and what came. Put what differs from run to run, such as the time, into a step.
   */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  /**
   * Does what `once` does, for work that may fail: calls `fn` again after an error, and limits its time.
   * `fn` receives a signal that aborts with that of the request, and when the attempt has taken
   * `timeoutMs`. Rejects with the error of the last attempt. A ToolError, and an `ask` that waits for
   * answers, is not retried. Keys are those of `once`: each names one piece of work. Rejects with a
   * RangeError for options out of bounds.
   *
   * @example
   * const ticket = await ctx.step('ticket', { retries: 3 }, (signal) => desk.open(title, { signal }))
   */
  step<T> (key: string, options: StepOptions, fn: (signal: AbortSignal) => T | Promise<T>): Promise<T>
  /** `fn` is called once. It has no time limit of its own. */
  step<T> (key: string, fn: (signal: AbortSignal) => T | Promise<T>): Promise<T>
  /**
   * Resolves after this time, in milliseconds, of 0 at least. In a tool with `task`, for a client that takes
   * tasks, a time of a second or more takes no memory and no connection: the call becomes a task, the handler
   * ends, and runs again from its first line after that time, on any replica. Sleeps are told apart by their
   * keys, or by their order and length. `sleep` rejects to end the handler then: do not catch this rejection.
   * It rejects with a RangeError for a time that ends after `ttlMs` of the tool, and with an Error within a
   * step, where it would call the step again after each sleep.
   *
   * Otherwise it waits in this process, at most 2,147,483,647 ms, and the time counts for the time limit.
   * Rejects when the signal aborts, and with a RangeError for any other number.
   *
   * @example await ctx.sleep(3_600_000, { key: 'dry' })
   */
  sleep (ms: number, options?: SleepOptions): Promise<void>
  /**
   * Calls `fn` at once, and shows it in traces as a span below that of the handler: how long it took, and
   * whether it failed. Spans of instrumented libraries that `fn` uses hang below it. Resolves to the result
   * of `fn`, or rejects with its error. Only the class of the error is recorded, never its message. While the
   * service is not traced, `span` only calls `fn`.
   *
   * `name` is a fixed text, not made from arguments: operators read it. It is cut after 100 characters.
   * Rejects with a TypeError, and does not call `fn`, if it is empty. One run of a handler has at most 128
   * spans, including those of its operations on handles: `fn` runs without a span after that.
   *
   * @example const rows = await ctx.span('load rates', () => db.query(QUERY, [day]))
   */
  span<T> (name: string, fn: () => T | Promise<T>): Promise<T>
}

/** The context of a tool that undoes the work of a task. */
export interface UndoContext extends Context {
  /**
   * Returns what a step of the task (`once`, `step`) has returned. `undefined` if the step had not ended: it
   * may have done its work all the same. `T` is what the step returned, which nothing checks.
   *
   * @example await shop.cancel(ctx.resultOf<string>('order') ?? `by-key:${args.cart_id}`)
   */
  resultOf<T = unknown> (key: string): T | undefined
}

/** The context of a request that reads one resource. */
export interface ReadContext extends Context {
  /**
   * The URI of the resource: the requested one, in which what a URI cannot have is percent-encoded. `é` is
   * `%C3%A9`. The variables of a template are decoded.
   * https://www.rfc-editor.org/rfc/rfc3986#section-2.1
   */
  readonly uri: string
}
