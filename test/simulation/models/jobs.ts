// The model of tasks: what clients know of each job, how it ends, and what may not happen.

import { ownerOf } from '../../../src/platform/access/principal.ts'
import {
  endOfRun, endOfUndo, isAsleep, phaseOf, type TaskRecord
} from '../../../src/features/tasks/records/record.ts'
import type { Sender } from '../cluster.ts'
import type { Operation } from '../probe.ts'
import { MAX_TASKS } from '../replica.ts'
import type { ModelWorld } from '../world.ts'
import { beginAnew, type Before, type Job, type TaskView } from './job.ts'
import { Questions } from './questions.ts'
import { isWithoutSuccess, SeenRecords, TERMINAL, type SeenState } from './records.ts'
import { toWanted } from './program.ts'
import { MAX_CRASHES, Runs, type SeenCluster } from './runs.ts'
import { Writes, type SeenOutages } from './writes.ts'

/** How many unfinished tasks one anonymous network may have. */
const SHARE = Math.ceil(MAX_TASKS / 10)
/** The tools whose work is undone. `shortly` has no time for it. */
const UNDONE = new Set(['undone', 'singly', 'lapsing', 'gentle'])
/** The tools with a short time limit. */
const SHORT = new Set(['brief', 'shortly', 'lapsing'])

export interface JobOptions { readonly isPlain?: boolean, readonly copies?: number }

export class Jobs {
  readonly #world: ModelWorld
  readonly #cluster: SeenCluster & SeenOutages
  readonly records: SeenRecords
  readonly questions: Questions
  readonly runs: Runs
  readonly writes: Writes
  readonly #byName = new Map<string, Job>()
  /** How often the state has forgotten what was not durable. */
  failovers = 0

  constructor (
    world: ModelWorld, state: SeenState, cluster: SeenCluster & SeenOutages, secrets: readonly string[]
  ) {
    this.#world = world
    this.#cluster = cluster
    this.records = new SeenRecords(world, state, secrets)
    this.records.onRecord = (...seen) => this.#noteRecord(...seen)
    this.questions = new Questions(world, this.records)
    this.writes = new Writes(world, cluster)
    this.runs = new Runs(world, cluster, (name) => this.find(name))
  }

  get all (): readonly Job[] { return [...this.#byName.values()] }
  /** Those that a client can ask for. */
  get tasks (): readonly Job[] { return this.all.filter(({ id }) => id !== undefined) }

  add (
    tool: string, sender: Sender, program: readonly Operation[],
    { isPlain = false, copies = 1 }: JobOptions = {}
  ): Job {
    const name = `job-${this.#byName.size}`
    const job: Job = {
      name,
      tool,
      sender,
      program,
      isPlain,
      copies,
      known: 'nothing',
      steps: new Map(),
      runs: new Map(),
      sent: [],
      given: new Map(),
      accesses: [],
      sleeps: new Map(),
      cancels: 0,
      progress: { at: -1, failovers: 0 },
      crashes: { handler: 0, undo: 0 },
      retries: 0
    }
    this.#byName.set(name, job)
    return job
  }

  find (name: string): Job {
    const job = this.#byName.get(name)
    if (job === undefined) throw new TypeError(`no job ${name}`)
    return job
  }

  /** A record tells of its job also if its client does not know it. */
  #noteRecord (entry: string, record: TaskRecord, isAnew: boolean): void {
    const job = this.#byName.get((record.args as { readonly job: string }).job)
    if (job === undefined) return
    if (isAnew) beginAnew(job)
    job.entry ??= entry
    job.recordedAt ??= this.#world.now
    this.writes.check(job, record)
  }

  /** Checks that the task whose undo was called has ended, and without a result. */
  undoing (name: string, scopes: readonly string[], runName?: string): string {
    const job = this.find(name)
    this.#world.note(`${name} is undone`)
    const record = this.records.of(job)
    if (record !== undefined && !isWithoutSuccess(record)) {
      this.#world.fail(`${name} is undone, and is ${record.status}`)
    }
    job.undoneSince ??= this.#world.now
    return this.runs.called(name, scopes, 'undo', runName)
  }

  /** Whether the record of a task that is kept for a short time has gone. */
  isGone (job: Job): boolean {
    return (job.tool === 'shortly' || job.isTold === true) && this.records.of(job) === undefined
  }

  /** Those that an operator can let run now. */
  get retriable (): readonly Job[] {
    return this.tasks.filter((job) => {
      const record = this.records.of(job)
      if (record === undefined) return false
      return record.undo === 'failed' || (phaseOf(record) === 'waiting' && !isAsleep(record))
    })
  }

  /** Whether the work of the task is still to be undone. */
  isToUndo (job: Job): boolean { return this.records.of(job)?.undo === 'due' }

  /** Whether its undo has failed, and has time for another run. */
  hasFailedUndo (job: Job): boolean {
    const record = this.records.of(job)
    return UNDONE.has(job.tool) && record?.undo === 'failed' && endOfUndo(record) > this.#world.now + 300_000
  }

  /** Whether the handler ends now, in a run that has not come to all that an earlier one came to. */
  strays (name: string, sleeps: number): boolean {
    const job = this.find(name)
    const { isRunning = false, order = [] } = this.records.of(job) ?? {}
    // A run that was taken over, or whose task has ended, is no longer that of the task.
    const mayStray = job.copies === 1 && isRunning && job.run?.process === this.#world.current
    const strays = mayStray && order.filter(({ kind }) => kind === 'sleep').length > sleeps
    if (strays) job.hasStrayed = true
    return strays
  }

  /** Checks that the work of a task without a result was undone, or could not be. */
  checkUndone (job: Job, isMended = false): void {
    const { name, tool, isUndone } = job
    if (!UNDONE.has(tool)) return
    const record = this.records.of(job)
    if (record === undefined || !isWithoutSuccess(record)) return
    const mayFail = !isMended && (/[23]$/.test(name) || this.#cluster.losses >= MAX_CRASHES)
    if (isUndone !== true && !mayFail) this.#world.fail(`${name} is ${record.status}, and was not undone`)
    if (record.undo === 'done' && isUndone !== true) this.#world.fail(`${name} counts as undone, and was not`)
    if (record.undo === 'failed' && !mayFail) this.#world.fail(`the undo of ${name} has failed`)
  }

  /** Checks that tasks which have ended do not count for their callers, nor for the networks of these. */
  checkPlaces (): void {
    for (const job of this.all) {
      const record = this.records.of(job)
      const isOpen = record !== undefined && (!TERMINAL.has(record.status) || record.undo === 'due')
      // A creation that a failover has lost counts until the time limit of its task.
      const isInDoubt = record === undefined && job.id === undefined
      if (job.entry === undefined || isOpen || isInDoubt) continue
      const place = this.records.placeOf(job)
      if (place !== undefined) this.#world.fail(`${job.name} has ended, and counts as unfinished: ${place}`)
    }
  }

  /** Checks that the call whose client has left does not go on, unless its replica was lost. */
  checkAbandoned ({ abandoned, name, ...job }: Job): void {
    const record = this.records.of({ name, ...job })
    if (abandoned === undefined || record === undefined || TERMINAL.has(record.status)) return
    if (!this.#cluster.isUndisturbed(abandoned.process, abandoned.at)) return
    this.#world.fail(`${name} is ${record.status}, though its client has left`)
  }

  /** Notes that a call has become a task, and checks the limits of its caller. */
  noteTask (job: Job, id: string): void {
    if (job.id !== undefined && job.id !== id) {
      this.#world.fail(`${job.name} is two tasks: ${job.id} and ${id}`)
    }
    job.known = 'task'
    job.id = id
    this.records.checkKnown(job, this.tasks)
    const owner = ownerOf(job.sender.principal)
    this.#checkLimit(({ principal }) => ownerOf(principal) === owner, MAX_TASKS)
    const { address } = job.sender
    if (address !== undefined) this.#checkLimit((sender) => sender.address === address, SHARE)
  }

  #checkLimit (isCounted: (sender: Sender) => boolean, max: number): void {
    const open = this.tasks.filter((job) => {
      if (!isCounted(job.sender)) return false
      const record = this.records.of(job)
      if (record === undefined || TERMINAL.has(record.status)) return false
      const isUnseen = record.status === 'input_required' && record.client.isUnattended === true
      return !isUnseen && endOfRun(record) > this.#world.now
    })
    // A repetition that wakes up creates its record though the place of the first call has gone.
    const repeated = this.#cluster.losses > 0 ? open.filter(({ copies }) => copies > 1).length : 0
    if (open.length - repeated > max) {
      this.#world.fail(`${open.length} tasks of one caller, and the limit is ${max}`)
    }
  }

  /** What is known before the job is asked for. */
  before ({ end, progress: { at, failovers } }: Job): Before {
    return { at: this.#world.now, end, progress: at, failovers }
  }

  /** Checks what the owner of a task was told. @param before what was known before it was asked. */
  see (job: Job, view: TaskView, before: Before): void {
    const text = JSON.stringify([view.status, view.result, view.error])
    // A look that was on its way may tell of an earlier time.
    const isOld = before.end === undefined && !TERMINAL.has(view.status)
    if (job.end !== undefined && job.end !== text && !isOld) {
      this.#world.fail(`${job.name} had ended as ${job.end}, and is ${text}`)
    }
    this.#seeProgress(job, view, before)
    this.questions.see(job, view, before.at)
    if (!TERMINAL.has(view.status) || job.end !== undefined) return
    this.noteEnd(job, text)
    if (view.status === 'completed') this.#checkResult(job, view)
    if (view.status === 'failed') this.#checkFailure(job, view)
    if (view.status === 'cancelled' && job.cancels === 0) {
      this.#world.fail(`${job.name} is cancelled, and nobody may have cancelled it`)
    }
  }

  /** The handler of a program tells its place in it. A failover may take that back. */
  #seeProgress (job: Job, view: TaskView, before: Before): void {
    const progress = this.progressOf(view)
    if (progress === undefined) return
    const { at } = progress
    if (at < before.progress && before.failovers === this.failovers) {
      this.#world.fail(`${job.name} was at ${before.progress}, and is at ${at}`)
    }
    if (at >= job.progress.at || job.progress.failovers !== this.failovers) job.progress = progress
  }

  /** How far the handler is. `undefined` for a task that has ended. */
  progressOf ({ status, statusMessage = '' }: TaskView): Job['progress'] | undefined {
    const [, place] = /^progress-(\d+)$/.exec(statusMessage) ?? []
    return TERMINAL.has(status) ? undefined : { at: Number(place ?? -1), failovers: this.failovers }
  }

  noteEnd (job: Job, text?: string): void {
    if (text !== undefined) job.end = text
    job.endedAt ??= this.#world.now
  }

  /** Checks that a cancelled task has ended, as the store would tell it after a failover. */
  checkCancelled (job: Job): void {
    const record = this.records.durableOf(job)
    if (record !== undefined && !TERMINAL.has(record.status)) {
      this.#world.fail(`the end of ${job.name} was acknowledged, and it goes on`)
    }
    job.endedAt ??= this.#world.now
  }

  #checkResult (job: Job, { result }: TaskView): void {
    const { name, steps, program } = job
    const { values = {}, answers = {} } = result?.structuredContent ?? {}
    if (result?.isError === true) {
      const isExpected = /No new ledger/.test(JSON.stringify(result)) ||
        program.some((operation) => operation.do === 'refuse')
      if (!isExpected) this.#world.fail(`${name} ended in a tool error: ${JSON.stringify(result)}`)
      return
    }
    if (job.hasStrayed === true) this.#world.fail(`${name} has a result of a handler that went another way`)
    const wanted = toWanted(program)
    for (const [key, value] of Object.entries(values)) {
      const step = steps.get(key)
      const isRight = key.startsWith('fail-') ? step?.hasFailed === true : step?.value === value
      if (!isRight) this.#world.fail(`${name} has ${value} as the result of ${key}`)
    }
    for (const [key, by] of Object.entries(answers)) this.questions.get(job, key, by)
    const missing = [
      ...wanted.values.filter((key) => values[key] === undefined),
      ...wanted.answers.filter((key) => answers[key] === undefined)
    ]
    if (missing.length > 0) this.#world.fail(`the result of ${name} lacks ${missing.join()}`)
  }

  #checkFailure ({ name, tool, program, runs, copies, hasStrayed = false }: Job, { error }: TaskView): void {
    const [reason, { losses }, isShort] = [error?.message ?? '', this.#cluster, SHORT.has(tool)]
    // A replica may be lost after it has written that it calls the handler, and before it does.
    const isInterrupted = runs.size === 0 || [...runs.values()].some((run) => (
      run.hasLeft !== true || losses > run.losses || !this.#cluster.isUndisturbed(run.process, run.at)
    ))
    const isExpected = (/within/.test(reason) && isShort) ||
      (/does not do what it did before/.test(reason) && hasStrayed) ||
      (/changed/.test(reason) && tool === 'strict') ||
      // A repetition knows the task of a call whose creation has failed.
      (/while the task ran/.test(reason) && tool === 'fragile' && (isInterrupted || copies > 1)) ||
      (/in a row/.test(reason) && losses >= MAX_CRASHES) ||
      (/^Internal error/.test(reason) && program.some((operation) => (
        // A sleep beyond the time limit is an error of the handler.
        operation.do === 'throw' || (isShort && /sleep|later|stray/.test(operation.do))
      )))
    if (!isExpected) this.#world.fail(`${name} (${tool}) failed: ${JSON.stringify(error)}`)
  }
}
