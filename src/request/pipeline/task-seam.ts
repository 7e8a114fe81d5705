// The seam for tasks: the interfaces that methods use. tasks/ implements them.

import type { Principal } from '../../access/principal.ts'
import type { CompiledTool } from '../../catalog/compiled/definitions/compile-tool.ts'
import type { MessageSink } from '../../store/changes/message-sink.ts'
import type { Journal } from '../questions/input-round.ts'
import type { Outcome } from './method.ts'
import type { RequestContext } from './request-context.ts'

/** Decides which calls become tasks. */
export interface TaskStarter {
  /**
   * Called before the handler of a tool with `task`. `undefined` if the call cannot become a task.
   * @param args the arguments as the client sent them.
   */
  open (request: RequestContext, tool: CompiledTool, args: unknown): TaskStart | undefined
}

/** A call that may become a task. */
export interface TaskStart {
  /** For the round of the call. */
  readonly journal: Journal
  /** Begins the work. The outcome is its result, or that the request is answered and the work goes on. */
  run (work: () => string | Promise<string>): Outcome | Promise<Outcome>
}

/** What a stream sends: each task by its JSON, as members without braces. */
export interface TaskStream {
  readonly sink: Pick<MessageSink, 'send' | 'isBlocked' | 'onDrain' | 'onClose'>
  toMessage (members: string): string
}

export interface TaskFollowers {
  /** Resolves to the ids of those tasks that the principal has. */
  findOwn (principal: Principal, ids: readonly string[]): Promise<string[]>
  /** Sends each task now, and again whenever its status has changed, until the stream closes. */
  follow (principal: Principal, ids: readonly string[], stream: TaskStream): void
}
