// The model of tasks: what clients know of each job, what its steps have done, and what may not happen.

import { ownerOf } from '../../src/access/principal.ts'
import {
  endOfRun, isAsleep, openQuestions, phaseOf, readTaskBytes, type TaskRecord
} from '../../src/tasks/record.ts'
import { createSealer, type Sealer } from '../../src/store/sealing/sealer.ts'
import type { Cluster, Sender } from './cluster.ts'
import type { Job, TaskView } from './job.ts'
import type { Operation } from './probe.ts'
import { LEASE_MS, MAX_TASKS } from './replica.ts'
import type { SimulatedState } from './state.ts'
import type { ModelWorld } from './world.ts'

const TERMINAL = new Set(['completed', 'failed', 'cancelled'])
/** After this many losses in a row a task fails. */
const MAX_CRASHES = 5
/** How many unfinished tasks one anonymous network may have. */
const SHARE = Math.ceil(MAX_TASKS / 10)

/** What the models see of the store. */
interface SeenState {
  readonly records: Pick<SimulatedState['records'], 'get' | 'getDurable'>
  readonly dueTimes: Pick<SimulatedState['dueTimes'], 'get'>
}

type SeenCluster = Pick<Cluster, 'losses' | 'isUndisturbed' | 'isCurrentStopping'>

export class Jobs {
  readonly #world: ModelWorld
  readonly #state: SeenState
  readonly #cluster: SeenCluster
  readonly #sealer: Sealer
  readonly #byName = new Map<string, Job>()
  /** The questions whose answers were acknowledged, by entry. */
  readonly #answered = new Map<string, Set<string>>()
  readonly #ended = new Map<string, string>()
  /** Records by their bytes, which the store replaces and never changes. */
  readonly #opened = new WeakMap<Buffer, TaskRecord>()

  constructor (
    world: ModelWorld, state: SeenState, cluster: SeenCluster, secrets: readonly string[]
  ) {
    this.#world = world
    this.#state = state
    this.#cluster = cluster
    this.#sealer = createSealer(secrets, { now: () => world.now })
  }

  get all (): readonly Job[] { return [...this.#byName.values()] }
  /** Those that a client can ask for. */
  get tasks (): readonly Job[] { return this.all.filter(({ id }) => id !== undefined) }

  add (tool: string, sender: Sender, program: readonly Operation[]): Job {
    const name = `job-${this.#byName.size}`
    const job: Job = {
      name,
      tool,
      sender,
      program,
      known: 'nothing',
      steps: new Map(),
      answers: new Set(),
      crashes: { handler: 0, undo: 0 },
      retries: 0
    }
    this.#byName.set(name, job)
    return job
  }

  called (name: string): void {
    const { losses } = this.#cluster
    this.find(name).run = { process: this.#world.current, at: this.#world.now, losses }
  }

  left (name: string): void {
    const { run } = this.find(name)
    if (run?.process === this.#world.current) run.hasLeft = true
  }

  begin (name: string, key: string): string {
    const job = this.find(name)
    const step = job.steps.get(key) ?? { begins: 0 }
    job.steps.set(key, step)
    this.#world.note(`${name} begins ${key}`)
    const what = `${key} of ${name} began`
    if (step.value !== undefined) this.#world.fail(`${what} again after its result was acknowledged`)
    if (job.tool === 'fragile' && step.begins > 0) this.#world.fail(`${what} twice, and may not be repeated`)
    if (job.known === 'answer') this.#world.fail(`${what} after its call was answered without a task`)
    const isUndo = key.startsWith('undo')
    if (!isUndo && job.endedAt !== undefined && this.#world.now > job.endedAt + LEASE_MS) {
      this.#world.fail(`${what} more than a lease after the end of its task`)
    }
    return `${name} ${key} ${++step.begins}`
  }

  /** Checks that the task whose undo was called has ended, and without a result. */
  undoing (name: string): void {
    const job = this.find(name)
    this.#world.note(`${name} is undone`)
    const status = this.#recordOf(job)?.status
    if (status !== undefined && status !== 'cancelled' && status !== 'failed') {
      this.#world.fail(`${name} is undone, and is ${status}`)
    }
  }

  /** Whether the record of a task that is kept for a short time has gone. */
  isGone (job: Job): boolean {
    return (job.tool === 'shortly' || job.isTold === true) && this.#recordOf(job) === undefined
  }

  /** Those that an operator can let run now. */
  get retriable (): readonly Job[] {
    return this.tasks.filter((job) => {
      const record = this.#recordOf(job)
      if (record === undefined) return false
      return record.undo === 'failed' || (phaseOf(record) === 'waiting' && !isAsleep(record))
    })
  }

  /** Whether the work of the task is still to be undone. */
  isToUndo (job: Job): boolean { return this.#recordOf(job)?.undo === 'due' }

  /** Checks that the work of a task without a result was undone, or could not be. */
  checkUndone (job: Job): void {
    const { name, tool, isUndone } = job
    if (tool !== 'undone' && tool !== 'singly') return
    const record = this.#recordOf(job)
    if (record === undefined || (record.status !== 'cancelled' && record.status !== 'failed')) return
    const mayFail = /[23]$/.test(name) || this.#cluster.losses >= MAX_CRASHES
    if (isUndone !== true && !mayFail) this.#world.fail(`${name} is ${record.status}, and was not undone`)
    if (record.undo === 'done' && isUndone !== true) this.#world.fail(`${name} counts as undone, and was not`)
    if (record.undo === 'failed' && !mayFail) this.#world.fail(`the undo of ${name} has failed`)
  }

  /** Checks that a task that has ended no longer counts for its caller. */
  checkPlace (job: Job): void {
    const record = this.#recordOf(job)
    if (record === undefined || !TERMINAL.has(record.status) || record.undo === 'due') return
    const place = this.#state.records.get(`open-${entryOf(job)}`)
    const isFree = place === undefined || place.expiry.at <= this.#world.now
    if (!isFree) this.#world.fail(`${job.name} is ${record.status}, and counts as unfinished`)
  }

  #recordOf (job: Job): TaskRecord | undefined {
    const entry = entryOf(job)
    const record = this.#state.records.get(entry)
    return record === undefined || record.expiry.at <= this.#world.now
      ? undefined
      : this.#read(entry, record.bytes)
  }

  acknowledge (name: string, key: string, value: string): void {
    const step = this.find(name).steps.get(key)
    if (step === undefined) return this.#world.fail(`${key} of ${name} never ran`)
    if (step.value !== undefined && step.value !== value) {
      this.#world.fail(`the result of ${key} of ${name} was ${step.value}, and is ${value}`)
    }
    step.value = value
  }

  crash (name: string, by: 'handler' | 'undo'): void {
    const job = this.find(name)
    // The task has left the replica in order, or does so: this is no loss.
    if (this.#cluster.isCurrentStopping) return
    const crashes = ++job.crashes[by]
    // An operator who lets it run again begins the count anew.
    if (crashes > MAX_CRASHES * (1 + job.retries)) {
      this.#world.fail(`the ${by} of ${name} has ended ${crashes} replicas`)
    }
  }

  /** Notes that a call has become a task, and checks the limits of its caller. */
  noteTask (job: Job, id: string): void {
    job.known = 'task'
    job.id = id
    const owner = ownerOf(job.sender.principal)
    this.#checkLimit(({ principal }) => ownerOf(principal) === owner, MAX_TASKS)
    const { address } = job.sender
    if (address !== undefined) this.#checkLimit((sender) => sender.address === address, SHARE)
  }

  #checkLimit (isCounted: (sender: Sender) => boolean, max: number): void {
    const open = this.tasks.filter((job) => {
      if (!isCounted(job.sender)) return false
      const record = this.#read(entryOf(job), this.#state.records.get(entryOf(job))?.bytes)
      return record !== undefined && !TERMINAL.has(record.status) && endOfRun(record) > this.#world.now
    })
    if (open.length > max) this.#world.fail(`${open.length} tasks of one caller, and the limit is ${max}`)
  }

  /** Checks what the owner of a task was told. @param before the end that was seen before it was asked. */
  see (job: Job, view: TaskView, before: string | undefined): void {
    const text = JSON.stringify([view.status, view.result, view.error])
    // A look that was on its way may tell of an earlier time.
    if (job.end !== undefined && job.end !== text && (before !== undefined || TERMINAL.has(view.status))) {
      this.#world.fail(`${job.name} had ended as ${job.end}, and is ${text}`)
    }
    if (!TERMINAL.has(view.status) || job.end !== undefined) return
    this.noteEnd(job, text)
    if (view.status === 'completed') this.#checkResult(job, view)
    if (view.status === 'failed') this.#checkFailure(job, view)
  }

  noteEnd (job: Job, text?: string): void {
    if (text !== undefined) job.end = text
    job.endedAt ??= this.#world.now
  }

  /** Checks that a cancelled task has ended, as the store would tell it after a failover. */
  checkCancelled (job: Job): void {
    const record = this.#readDurable(entryOf(job))
    if (record !== undefined && !TERMINAL.has(record.status)) {
      this.#world.fail(`the end of ${job.name} was acknowledged, and it goes on`)
    }
    job.endedAt ??= this.#world.now
  }

  /** Notes the answers that are durable now. */
  noteAnswered (job: Job): void {
    const entry = entryOf(job)
    const questions = Object.entries(this.#readDurable(entry)?.questions ?? {})
    const names = questions.flatMap(([name, { isAnswered }]) => isAnswered ? [name] : [])
    this.#answered.set(entry, new Set([...this.#answered.get(entry) ?? [], ...names]))
  }

  /** Called after each write of a record or a due time. */
  checkEntry (entry: string): void {
    const record = this.#read(entry, this.#state.records.get(entry)?.bytes)
    const dueAt = this.#state.dueTimes.get(entry)?.at
    const latest = this.#world.now + LEASE_MS
    if (record?.isRunning === true && dueAt !== undefined && dueAt > latest) {
      this.#world.fail(`${entry} runs, and is due ${dueAt - latest} ms beyond a lease`)
    }
    this.#checkDurable(entry)
  }

  #checkDurable (entry: string): void {
    const record = this.#readDurable(entry)
    if (record === undefined) return
    const ended = this.#ended.get(entry)
    if (ended !== undefined && ended !== record.status) {
      this.#world.fail(`${entry} had ended as ${ended}, and is ${record.status}`)
    }
    if (TERMINAL.has(record.status)) this.#ended.set(entry, record.status)
    const lost = openQuestions(record).find(([name]) => this.#answered.get(entry)?.has(name))
    if (lost !== undefined) this.#world.fail(`the acknowledged answer to ${lost[0]} of ${entry} is lost`)
  }

  #readDurable (entry: string): TaskRecord | undefined {
    return this.#read(entry, this.#state.records.getDurable(entry)?.bytes)
  }

  #read (entry: string, bytes: Buffer | undefined): TaskRecord | undefined {
    if (bytes === undefined) return undefined
    const before = this.#opened.get(bytes)
    if (before !== undefined) return before
    const opened = this.#sealer.open('task', entry, bytes.toString('latin1'))
    const record = opened && readTaskBytes(opened)
    if (record !== undefined) this.#opened.set(bytes, record)
    return record
  }

  #checkResult ({ name, steps, answers }: Job, { result }: TaskView): void {
    const { values = {}, answers: given = {} } = result?.structuredContent ?? {}
    if (result?.isError === true) {
      if (/No new ledger/.test(JSON.stringify(result))) return
      return this.#world.fail(`${name} ended in a tool error: ${JSON.stringify(result)}`)
    }
    for (const [key, value] of Object.entries(values)) {
      if (steps.get(key)?.value !== value) this.#world.fail(`${name} has ${value} as the result of ${key}`)
    }
    for (const answer of Object.values(given)) {
      if (!answers.has(answer)) this.#world.fail(`${name} has an answer that nobody gave: ${String(answer)}`)
    }
  }

  #checkFailure ({ name, tool, program, run }: Job, { error }: TaskView): void {
    const reason = error?.message ?? ''
    const { losses } = this.#cluster
    // A replica may be lost after it has written that it calls the handler, and before it does.
    const isInterrupted = run?.hasLeft !== true || losses > run.losses ||
      !this.#cluster.isUndisturbed(run.process, run.at)
    const isExpected = (/within/.test(reason) && (tool === 'brief' || tool === 'shortly')) ||
      (/changed/.test(reason) && tool === 'strict') ||
      (/while the task ran/.test(reason) && tool === 'fragile' && isInterrupted) ||
      (/in a row/.test(reason) && losses >= MAX_CRASHES) ||
      (/^Internal error/.test(reason) && program.some((operation) => (
        // A sleep beyond the time limit is an error of the handler.
        operation.do === 'throw' || ((tool === 'brief' || tool === 'shortly') && /sleep/.test(operation.do))
      )))
    if (!isExpected) this.#world.fail(`${name} (${tool}) failed: ${JSON.stringify(error)}`)
  }

  find (name: string): Job {
    const job = this.#byName.get(name)
    if (job === undefined) throw new TypeError(`no job ${name}`)
    return job
  }
}

/** The entry of its due time, which also names its record. */
function entryOf ({ id, sender }: Job): string { return `tasks-${ownerOf(sender.principal)}/${String(id)}` }
