// Carries out the commands of a plan.

import type { CommandParts } from './command-parts.ts'
import { CallClients } from './call-clients.ts'
import type { Job } from './models/job.ts'
import type { Command } from './plan.ts'
import { SECRETS, senderOf } from './senders.ts'
import { contentOf, Sending } from './sending.ts'
import { TaskClients } from './task-clients.ts'

/** How long a client waits until it looks at a task again, in milliseconds. */
const PAUSE_MS = 1000
/** The operations of a retry take no longer, in milliseconds. */
const RETRY_MS = 10_000
/** How long a user thinks at most, in milliseconds. */
const MAX_THINKING_MS = 40_000
/** How long before a failover clients look at all tasks, in milliseconds. */
const LOOK_MS = 300

export class Commands {
  readonly #parts: CommandParts
  readonly #sending: Sending
  readonly #tasks: TaskClients
  readonly #calls: CallClients

  /** @param commands all that will be carried out. */
  constructor (parts: CommandParts, commands: readonly Command[]) {
    this.#parts = parts
    this.#sending = new Sending(parts)
    const hasOneSecret = !commands.some((command) => command.do === 'restart' && command.secrets !== 'both')
    this.#tasks = new TaskClients(parts, this.#sending, hasOneSecret)
    this.#calls = new CallClients(parts, this.#sending)
  }

  /** Begins a command. Nothing waits for it. */
  begin (command: Command): void {
    this.#do(command).catch((error: unknown) => {
      this.#parts.world.fail(`a command failed: ${error instanceof Error ? error.stack : String(error)}`)
    })
  }

  /** Answers all questions until every task has ended. Then reads all handles. */
  async finish (): Promise<void> {
    const { jobs, ledgers, world, cluster } = this.#parts
    // Those that stop with an old secret have stopped by then.
    await world.pause(cluster.client, 60_000)
    this.#sending.isCalm = true
    jobs.runs.calmAt = world.now
    await Promise.all(jobs.tasks.map(async (job) => {
      while (job.end === undefined && !jobs.isGone(job)) {
        const view = await this.#tasks.get(job)
        const ms = this.#think()
        if (view?.status === 'input_required') await this.#tasks.answer(job, view, 'full', { ms })
        await world.pause(cluster.client, PAUSE_MS)
      }
    }))
    while (jobs.all.some((job) => jobs.isToUndo(job))) await world.pause(cluster.client, PAUSE_MS)
    for (const job of jobs.tasks) await this.#tasks.get(job)
    await world.pause(cluster.client, 20_000)
    for (const job of jobs.all) jobs.checkUndone(job)
    await this.#retryUndos()
    for (const job of jobs.all) jobs.checkAbandoned(job)
    this.#parts.streams.check()
    await this.#calls.meetCrowd()
    jobs.checkPlaces()
    for (const ledger of ledgers.all) if (ledger.drop !== 'begun') await this.#calls.show(ledger, 'full', 0)
  }

  /** Lets each undo that has failed run again, with what has made it fail mended. */
  async #retryUndos (): Promise<void> {
    const { jobs, cluster, world } = this.#parts
    const failed = jobs.tasks.filter((job) => jobs.hasFailedUndo(job))
    for (const job of failed) this.#retry(job, 0)
    if (failed.length > 0) await world.pause(cluster.client, RETRY_MS)
    while (failed.some((job) => jobs.isToUndo(job))) await world.pause(cluster.client, PAUSE_MS)
    for (const job of failed) jobs.checkUndone(job, true)
  }

  #retry (job: Job, replica: number): void {
    if (job.id === undefined) return
    job.retries++
    this.#parts.cluster.retry(replica, job.id)
  }

  async #do (command: Command): Promise<void> {
    const { cluster, jobs, ledgers, network, world } = this.#parts
    const { replica } = command
    switch (command.do) {
      case 'begin': return await this.#tasks.begin(command)
      case 'get': {
        const job = pick(jobs.tasks, command.job)
        if (job !== undefined) await this.#tasks.look(job, command.rights, replica)
        return
      }
      case 'answer': case 'answer-thrice': {
        const job = pick(jobs.tasks, command.job)
        const view = job && await this.#tasks.get(job)
        if (job === undefined || view === undefined) return
        if (command.do === 'answer') return await this.#tasks.answer(job, view, command.rights, command)
        // Three clients answer the first question at once.
        await Promise.all([1, 2, 3].map(async () => await this.#tasks.answer(job, view, 'full', { most: 1 })))
        return
      }
      case 'cancel': {
        const job = pick(jobs.tasks, command.job)
        if (job !== undefined) await this.#tasks.cancel(job, command.rights ?? 'full')
        return
      }
      case 'retry': {
        const job = pick(jobs.retriable, command.job) ?? pick(jobs.tasks, command.job)
        return job && this.#retry(job, replica)
      }
      case 'listen': {
        const job = pick(jobs.tasks, command.job)
        if (job === undefined) return
        const open = () => this.#parts.streams.open(job)
        return cluster.listen(replica, job.sender, { taskIds: [job.id] }, open)
      }
      case 'open': {
        const sender = senderOf(command.who)
        const reply = await this.#sending.call(replica, sender, 'open', {})
        const id = contentOf(reply)?.id
        if (typeof id === 'string') ledgers.add(id, sender)
        return
      }
      case 'add': case 'drop': case 'show': {
        const ledger = pick(ledgers.all, command.ledger)
        if (ledger === undefined) return
        if (command.do === 'add') await this.#calls.add(ledger, replica)
        else if (command.do === 'drop') await this.#calls.drop(ledger, replica)
        else await this.#calls.show(ledger, command.rights, replica)
        return
      }
      case 'crowd': return this.#calls.crowd()
      case 'order': return await this.#calls.order(command)
      case 'kill': return cluster.kill(replica, command.ms)
      case 'pause': return cluster.pause(replica, command.ms)
      case 'cut': return cluster.cut(replica, command.ms)
      case 'away':
        if (network.awayUntil < world.now) network.awayAt = world.now
        network.awayUntil = Math.max(network.awayUntil, world.now + command.ms)
        return
      case 'split':
        network.state.split()
        network.splitAt = Infinity
        world.note('splits')
        await world.pause(cluster.client, command.ms)
        // What is told now must hold after the failover.
        if (command.isLost) this.#lookAtAll(replica)
        await world.pause(cluster.client, command.isLost ? LOOK_MS : 0)
        world.note(command.isLost ? 'fails over' : 'heals')
        if (command.isLost) this.#failOver()
        else network.state.heal()
        network.splitAt = world.now
        return command.isLost ? this.#lookAtAll(replica + 1) : undefined
      case 'restart': {
        const secrets = SECRETS[command.secrets]
        return cluster.restart(replica, { release: command.release, secrets })
      }
      case 'reload': return cluster.reload(replica, command.release)
      case 'clock': return cluster.setClock(replica, command.aheadMs)
    }
  }

  /** Every other user answers at once. Meanwhile a sleep beside the question may end. */
  #think (): number {
    const { random } = this.#parts.cluster.client
    return random.chance(0.5) ? 0 : random.below(MAX_THINKING_MS)
  }

  #failOver (): void {
    this.#parts.network.state.failOver()
    this.#parts.jobs.failovers++
    this.#parts.jobs.writes.forget()
  }

  #lookAtAll (replica: number): void {
    for (const job of this.#parts.jobs.tasks) {
      this.#tasks.look(job, 'full', replica).catch((error: unknown) => this.#parts.world.fail(String(error)))
    }
  }
}

function pick<T> (all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(1, all.length)]
}
