// The seam for tasks.

import type { CompiledTool } from '../catalog/compile-tool.ts'
import type { Journal } from '../input/journal.ts'
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
