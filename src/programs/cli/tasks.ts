// The command `trivet tasks`: the tasks of a running service, at its admin address.

import { Argument, Option } from 'commander'
import { signalAfter } from '../../base/deadline.ts'
import { toPlain } from '../../base/words.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { toConnectionError } from './client/connection-error.ts'
import {
  CommandError, isUrl, toJsonText, UsageError, type AddCommand, type Surroundings
} from './command.ts'

type Action = 'list' | 'show' | 'cancel' | 'retry'

interface TasksFlags {
  readonly admin: string
  readonly json?: true
  readonly recording?: true
  readonly values?: true
  readonly status?: string
  readonly phase?: string
  readonly undo?: string
  readonly tool?: string
  readonly subject?: string
  readonly olderThan?: string
  readonly limit: string
  readonly cursor?: string
}

/** A task, as the admin address writes it. Another release may write other members. */
interface ShownTask { readonly [member: string]: unknown }

interface ShownPage { readonly tasks: readonly ShownTask[], readonly nextCursor?: string | undefined }

/** How long one answer may take, in milliseconds. The service searches for ten seconds at most. */
const ANSWER_MS = 30_000
const LATE = `no answer within ${ANSWER_MS / 1000} s`

const HELP = `
list shows tasks, ended ones too, while their records are kept. show has one of them. cancel ends a task as
its owner can. retry lets a task that waits after losses, for a limit or for a replica run now.

cancel, retry and --values need TRIVET_ADMIN_TOKEN, here and in the service. If the service has it, all need
it.`

export const tasksCommand: AddCommand = (program, surroundings) => {
  program.command('tasks')
    .description('list, show, cancel and retry the tasks of a running service')
    .addArgument(new Argument('<action>').choices(['list', 'show', 'cancel', 'retry']))
    .argument('[id]', 'the task; for all but list')
    .requiredOption('--admin <url>', 'the admin address of a replica, such as http://127.0.0.1:9464')
    .addOption(new Option('--status <status>', 'list: only tasks of this status').choices(
      ['working', 'input_required', 'completed', 'failed', 'cancelled']
    ))
    .addOption(new Option('--phase <phase>', 'list: only tasks of this phase').choices(
      ['running', 'waiting', 'asking', 'undoing', 'over']
    ))
    .addOption(new Option('--undo <outcome>', 'list: only ended tasks whose undo has come to this').choices(
      ['due', 'done', 'failed']
    ))
    .option('--tool <name>', 'list: only tasks of this tool')
    .option('--subject <name>', 'list: only tasks of this owner')
    .option('--older-than <time>', 'list: only tasks that began before this time, such as 90s, 10m, 2h, 1d')
    .option('--limit <number>', 'list: how many tasks, about', '100')
    .option('--cursor <cursor>', 'list: where the list goes on, as the list before says')
    .option('--recording', 'show: print what the task came to, for catalog.replay of trivet/testing')
    .option('--values', 'show: with --recording, print the arguments, answers and results too')
    .option('--json', 'print what the admin address answers')
    .addHelpText('after', HELP)
    .action(async (action: Action, id: string | undefined, flags: TasksFlags) => {
      const { out } = surroundings
      checkRecordingFlags(action, flags)
      if (action === 'list') {
        if (id !== undefined) throw new UsageError('tasks list takes no id; tasks show does')
        const page = await readList(flags, surroundings)
        return out(flags.json === true ? toJsonText(page) : toTable(page))
      }
      if (id === undefined) throw new UsageError(`tasks ${action} needs an id, as tasks list has it`)
      // A URL has no such part: it would be another address.
      if (/^\.*$/.test(id)) throw new UsageError(`${JSON.stringify(id)} is no id of a task`)
      const path = `/tasks/${encodeURIComponent(id)}`
      if (flags.recording === true) {
        const query = `recording=1${flags.values === true ? '&values=1' : ''}`
        return out(toJsonText(await ask(flags, surroundings, `${path}?${query}`)))
      }
      const task = action === 'show'
        ? await ask(flags, surroundings, path)
        : await ask(flags, surroundings, `${path}/${action}`, 'POST')
      out(flags.json === true ? toJsonText(task) : toLines(task))
    })
}

/** Throws a UsageError for flags that have no effect. */
function checkRecordingFlags (action: Action, { recording, values }: TasksFlags): void {
  if (recording === true && action !== 'show') throw new UsageError('--recording is a flag of tasks show')
  if (values === true && recording !== true) throw new UsageError('--values needs --recording')
}

/** Reads pages until there are enough tasks. A page may be short, or empty, and name the next one. */
async function readList (flags: TasksFlags, surroundings: Surroundings): Promise<ShownPage> {
  const { status, phase, undo, tool, subject, olderThan, limit } = flags
  const olderThanMs = olderThan === undefined ? undefined : String(readDuration(olderThan))
  const filter = Object.entries({ status, phase, undo, tool, subject, olderThanMs })
  const maxTasks = readLimit(limit)
  const tasks = new Map<unknown, ShownTask>()
  let { cursor } = flags
  do {
    const query = new URLSearchParams()
    for (const [name, value] of [...filter, ['cursor', cursor] as const]) {
      if (value !== undefined) query.set(name, value)
    }
    query.set('limit', String(Math.min(500, maxTasks - tasks.size)))
    const page = await ask(flags, surroundings, `/tasks?${query}`)
    // A task may be on two pages: the list goes on while tasks change.
    const listed = Array.isArray(page.tasks) ? page.tasks.filter(isObject) : []
    for (const task of listed) tasks.set(task.taskId, task)
    const next = typeof page.nextCursor === 'string' ? page.nextCursor : undefined
    if (next !== undefined && next === cursor) {
      throw new CommandError('connection', `${flags.admin} answers the same page again and again`)
    }
    cursor = next
  } while (cursor !== undefined && tasks.size < maxTasks)
  return { tasks: [...tasks.values()], nextCursor: cursor }
}

function readDuration (text: string): number {
  const [, count, name] = /^(\d{1,9})([dhms])$/.exec(text) ?? []
  const unit = UNITS.find(([letter]) => letter === name)
  if (unit === undefined) throw new UsageError('--older-than must be a time such as 90s, 10m, 2h or 1d')
  return Number(count) * unit[1]
}

function readLimit (text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new UsageError('--limit must be a number from 1 to 9999999')
  return Number(text)
}

/** Throws a UsageError. It does not repeat the URL: that may have a password. */
function checkAdmin (admin: string): void {
  if (!isUrl(admin) || !URL.canParse(admin)) throw new UsageError('--admin must be an http:// or https:// URL')
  const { username, password } = new URL(admin)
  if (username === '' && password === '') return
  throw new UsageError('--admin must have no user and no password; the token is that of TRIVET_ADMIN_TOKEN')
}

/** Rejects with a ConnectionError, or with a CommandError that has the problem that the service names. */
async function ask (
  { admin }: TasksFlags, { adminToken }: Surroundings, path: string, method = 'GET'
): Promise<ShownTask> {
  checkAdmin(admin)
  const headers = { ...(adminToken !== undefined && { authorization: `Bearer ${adminToken}` }) }
  const url = `${admin.replace(/\/+$/, '')}${path}`
  const signal = signalAfter(ANSWER_MS)
  const request = { method, headers, redirect: 'manual', signal } as const
  const response = await fetch(url, request).catch((error: unknown) => {
    throw toConnectionError(admin, signal.aborted ? new Error(LATE) : error)
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (signal.aborted) throw toConnectionError(admin, new Error(LATE))
  if (response.ok && isObject(answer)) return answer
  const isAdmin = isObject(answer) && typeof answer.message === 'string'
  const detail = isAdmin ? toPlain(String(answer.message)) : 'this is no admin address of Trivet'
  throw new CommandError(isAdmin ? 'request' : 'connection', `${admin} answers ${response.status}: ${detail}`)
}

const COLUMNS: ReadonlyArray<readonly [heading: string, read: (task: ShownTask) => string]> = [
  ['TASK', ({ taskId }) => String(taskId)],
  ['STATUS', ({ status, undo, left }) => {
    return textOf(status ?? left) + (undo === undefined ? '' : `, undo ${textOf(undo)}`)
  }],
  ['TOOL', ({ tool }) => textOf(tool)],
  ['SUBJECT', ({ subject, status }) => textOf(subject ?? (status === undefined ? '' : 'anonymous'))],
  ['AGE', ({ ageMs }) => typeof ageMs === 'number' ? toAge(ageMs) : ''],
  ['RUNS', ({ runs }) => textOf(runs)],
  ['LOSSES', ({ losses }) => textOf(losses)],
  ['LAST STEP', ({ lastStep }) => textOf(lastStep)],
  ['WAITS FOR', toWait]
]

function toTable ({ tasks, nextCursor }: ShownPage): string {
  const headings = COLUMNS.map(([heading]) => heading)
  const rows = [headings, ...tasks.map((task) => COLUMNS.map(([, read]) => read(task)))]
  const widths = COLUMNS.map((_, at) => Math.min(40, Math.max(...rows.map((row) => row[at]?.length ?? 0))))
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ').trimEnd())
  const hint = nextCursor === undefined ? '' : `More: --cursor ${toPlain(nextCursor)}\n`
  return tasks.length === 0 ? `No task.\n${hint}` : `${lines.join('\n')}\n${hint}`
}

/** Says why the task waits, and until when. */
function toWait ({ waitsFor, wakesAt, left, isOverdue }: ShownTask): string {
  const until = typeof wakesAt === 'string' && waitsFor !== 'replica' ? ` until ${wakesAt}` : ''
  const reasons = [
    waitsFor === undefined ? '' : `${String(waitsFor)}${until}`,
    isOverdue === true ? 'overdue' : '',
    typeof left === 'string' ? `left: ${left}` : ''
  ]
  return toPlain(reasons.filter((reason) => reason !== '').join(', '))
}

function toLines (task: ShownTask): string {
  const width = Math.max(...Object.keys(task).map((name) => name.length))
  return Object.entries(task).map(([name, value]) => {
    const text = name === 'ageMs' && typeof value === 'number' ? toAge(value) : textOf(value)
    return `${(name === 'ageMs' ? 'age' : name).padEnd(width)}  ${text}\n`
  }).join('')
}

function textOf (value: unknown): string {
  if (value === undefined) return ''
  return toPlain(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

const UNITS = [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000]] as const

function toAge (ms: number): string {
  const [unit, unitMs] = UNITS.find(([, size]) => ms >= 2 * size) ?? ['s', 1000]
  return `${Math.floor(ms / unitMs)}${unit}`
}
