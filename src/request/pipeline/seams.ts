// The interfaces of what other rooms do for requests: limits, tasks, large files and upstreams.

import type { Principal } from '../../platform/access/principal.ts'
import type { Files } from '../../platform/author/files.ts'
import type { CompiledTool } from '../../catalog/compiled/compiled-primitive.ts'
import type { JsonText } from '../../catalog/compiled/results/large-json.ts'
import type { Sender } from '../../platform/limits/holder.ts'
import type { MessageSink } from '../../platform/store/changes/message-sink.ts'
import type { InputRound, Journal, Relay } from '../questions/input-round.ts'
import type { Caller, Outlet } from './caller.ts'
import type { Lifetime } from './lifetime.ts'
import type { Call, Outcome } from './method.ts'
import type { RequestContext } from './request-context.ts'

/** Limits how much a caller may use. */
export interface Limiter {
  /**
   * Throws or rejects with a ProtocolError when a limit is reached. An implementation that counts running
   * requests subtracts the request when `request.lifetime` has settled.
   */
  admit (call: Call, request: RequestContext): void | Promise<void>
  /** Throws a ProtocolError when a limit refuses the result of the call. Absent if no result is limited. */
  admitResult? (call: Call, result: string | Buffer, request: RequestContext): void
}

/** Bounds the memory that large results take. */
export interface ResultRoom {
  /** Resolves when the call may begin. Returns `undefined` if it may begin now. */
  begin (call: Call, request: RequestContext): Promise<void> | undefined
  /** Counts a result that is about to be written. Returns `false` if it must be dropped. */
  admit (call: Call, request: RequestContext, length: number): boolean
  /** Learns how large the results of a primitive are. */
  note (call: Call, length: number): void
}

/** Decides which calls go on after their answer, and continues them. */
export interface TaskStarter {
  /**
   * Called before the handler of a tool with `task`. Returns `undefined` for an ordinary call. Throws a
   * ToolError if the client could not learn of the result.
   */
  open (request: RequestContext, call: StartingCall): TaskStart | undefined
  /**
   * Called before the handler of a tool with `relayQuestions` and without `task`. Returns `undefined` if no
   * model may pass on its questions.
   */
  openRelay (request: RequestContext, call: StartingCall): RelayStart | undefined
  /** Serves the service's own tool that continues calls. @param args have passed the check of its schema. */
  continue (request: RequestContext, args: unknown, openRound: OpenRound): Promise<string>
}

/** Cuts results that are too large, and serves what was left out. */
export interface ResultCutter {
  /** Returns the result, cut if a limit says so. A result that cannot be cut is returned as it is. */
  fit (
    request: RequestContext, tool: Pick<CompiledTool, 'key' | 'clientCheck' | 'limits'>,
    result: JsonText | Promise<JsonText>
  ): JsonText | Promise<JsonText>
  /** Serves the service's own tool that reads on. @param args have passed the check of its schema. */
  readMore (request: RequestContext, args: unknown): Promise<JsonText>
}

/** Opens the round in which a request may ask its client. */
export type OpenRound = (request: RequestContext) => InputRound

export interface StartingCall {
  readonly tool: CompiledTool
  /** The arguments as the client sent them. */
  readonly args: unknown
  /** Whether the client sends the request again, with answers. */
  readonly isRetry: boolean
  readonly openRound: OpenRound
}

/** A call that may become a task. */
export interface TaskStart {
  /** The journal for the round of the work. */
  readonly journal: Journal
  /** Begins the work. The outcome is its result, or the work itself, which goes on beside the request. */
  run (work: () => string | Promise<string>): Outcome | Promise<Outcome>
}

/** A call that is kept if it asks what its client cannot be asked. */
export interface RelayStart extends Relay {
  /**
   * Answers the request if the call was kept before: it is sent again with answers, or repeated. Resolves to
   * `undefined`, or returns it, if the handler must run.
   */
  findEarlier (): Promise<string | undefined> | undefined
}

/** One more run of a tool, for a task whose call was answered long ago. */
export interface ToolRun {
  /** The name of the tool. */
  readonly tool: string
  /** The arguments as the client sent them. */
  readonly args: unknown
  /** The caller of the call, as it is kept. */
  readonly caller: Caller
  readonly journal: Journal
  readonly timeoutMs: number
  /** Present if the work of the task is undone. */
  readonly undone?: UndoneTask | undefined
  /** Takes what the run says, and how it ends. */
  readonly outlet: Outlet
  /**
   * Returns the error for a run that a limit refuses for now. Without a time the run is for another replica:
   * the catalog here no longer has the tool, or the tool refuses the arguments.
   */
  toDeferral (retryAfterSeconds?: number): Error
  /** Told of the error that ended the run, before it becomes a result. */
  onError? (error: unknown): void
}

/** A task whose work is undone. */
export interface UndoneTask {
  /** Returns the result of a step of the task, or `undefined`. */
  resultOf (key: string): unknown
}

export interface ToolRuns {
  /** Resolves to whether the catalog has the tool, its `undo` if asked for, and takes the arguments. */
  accepts (tool: string, args: unknown, isUndo: boolean): boolean | Promise<boolean>
  run (run: ToolRun): void
}

/** A stream that follows tasks. */
export interface TaskStream {
  readonly sink: Pick<MessageSink, 'send' | 'isBlocked' | 'onDrain' | 'onClose'>
  /** @param members the task as JSON, without braces. */
  toMessage (members: string): string
}

export interface TaskFollowers {
  /**
   * Resolves to the ids that name tasks of the principal. The tasks count for the sender until the lifetime
   * ends. Rejects with a ProtocolError when the sender follows too many.
   */
  findOwn (
    sender: Sender, ids: readonly string[], lifetime: Pick<Lifetime, 'onEnd' | 'throwIfStopped'>
  ): Promise<string[]>
  /** Sends each task now and after every change of its status, until the stream closes. */
  follow (sender: Sender, ids: readonly string[], stream: TaskStream): void
}

/** The parts of a request that `ctx.files` uses. */
export interface FileClient {
  readonly sender: Sender
  readonly round: Pick<InputRound, 'ask' | 'once'>
  readonly signal: AbortSignal
  /** Stops the time limit until the returned function is called. */
  pauseClock (): () => void
}

export interface FileAccess {
  /** Returns the files of one request. */
  open (client: FileClient): Files
  /**
   * Returns the URL of a file of the catalog that is too large for a result. Returns `undefined` for other
   * files, and if the service does not know its public URL.
   */
  linkTo (uri: string, size: number, principal: Principal): string | undefined
}

/** What a task keeps to call after its request has ended. */
export interface KeptToken {
  /** The issuer of the token. */
  readonly issuer: string
  /** The name of its target, as `toTargetName` makes it. */
  readonly target: string
  readonly accessToken: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
  readonly refreshToken?: string | undefined
}

/** The tokens of one task, by the name of the upstream. */
export type KeptTokensByName = { readonly [upstream: string]: KeptToken }

/** The upstreams that a task goes on to call after its request. */
export interface UpstreamTokens {
  /**
   * Exchanges the caller's token for the upstreams that the tool names, and that say that tasks keep one.
   * Resolves to `undefined` if there are none. Never rejects: what cannot be exchanged is not kept.
   */
  exchange (principal: Principal, tool: string): Promise<KeptTokensByName | undefined>
  /**
   * Gives kept tokens to a run.
   * @param principal of this run alone.
   * @param keep writes renewed tokens into the record. Resolves once they are durable.
   */
  attach (
    principal: Principal, tokens: KeptTokensByName, keep: (tokens: KeptTokensByName) => Promise<void>
  ): void
}
