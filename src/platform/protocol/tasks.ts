// The extension io.modelcontextprotocol/tasks: its capability, its statuses, and tasks as JSON.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** What a client declares that takes tasks as answers of calls, and a server that may answer so. */
export const TASKS_CAPABILITY = { extensions: { [TASKS_EXTENSION]: {} } }

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

export function isTerminal (status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** A task, as its clients see it. Times are ISO 8601. */
export interface Task {
  readonly taskId: string
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number
  readonly pollIntervalMs: number
}

/** How much the JSON of a task says: a new task has no members of its status. */
export interface TaskDetails {
  /** The questions of an `input_required` task, as JSON. */
  readonly inputRequests?: string
  /** The result of a `completed` task, as JSON. */
  readonly result?: string
  /** The error of a `failed` task, as JSON. */
  readonly error?: string
}

/** Writes the members of the JSON of a task, without braces. */
export function toTaskMembers (task: Task, details: TaskDetails = {}): string {
  const members = JSON.stringify(task).slice(1, -1)
  const extra = Object.entries(details).filter(([, json]) => json !== undefined)
  return members + extra.map(([name, json]) => `,"${name}":${json}`).join('')
}
