// Carries out the commands of a plan, as clients do: they ask again when they have no answer.

import type { Ledger } from './calls.ts'
import type { Reply, Sender } from './cluster.ts'
import type { CommandParts } from './command-parts.ts'
import type { Job, TaskView } from './job.ts'
import type { Command, RIGHTS } from './plan.ts'
import { SECRETS, senderOf, withRight } from './senders.ts'

type Right = typeof RIGHTS[number]

/** The error for a task that is unknown, or hidden. */
const NOT_FOUND = -32602
/** How often a client asks again, and how long it waits between, in milliseconds. */
const ATTEMPTS = 12
const PAUSE_MS = 1000
/** How long before a failover clients look at all tasks, in milliseconds. */
const LOOK_MS = 300
/** The answer of a handle that is unknown. */
const NO_HANDLE = /There is no ledger/

export class Commands {
  readonly #parts: CommandParts
  /** Whether all replicas know all secrets. Before, one may not know a task. */
  #isCalm = false
  #answers = 0
  #orders = 0
  #replica = 0

  constructor (parts: CommandParts) {
    this.#parts = parts
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
    this.#isCalm = true
    await Promise.all(jobs.tasks.map(async (job) => {
      while (job.end === undefined && !jobs.isGone(job)) {
        const view = await this.#get(job)
        if (view?.status === 'input_required') await this.#answer(job, view, 'full')
        await world.pause(cluster.client, PAUSE_MS)
      }
    }))
    while (jobs.tasks.some((job) => jobs.isToUndo(job))) await world.pause(cluster.client, PAUSE_MS)
    for (const job of jobs.tasks) await this.#get(job)
    for (const job of jobs.tasks) jobs.checkUndone(job)
    await world.pause(cluster.client, 20_000)
    this.#parts.streams.check()
    for (const job of jobs.tasks) jobs.checkPlace(job)
    for (const ledger of ledgers.all) if (ledger.drop !== 'begun') await this.#show(ledger, 'full', 0)
  }

  async #do (command: Command): Promise<void> {
    const { cluster, jobs, ledgers, network, world } = this.#parts
    const { replica } = command
    switch (command.do) {
      case 'begin': return await this.#begin(command)
      case 'get': {
        const job = pick(jobs.tasks, command.job)
        if (job !== undefined) await this.#look(job, command.rights, replica)
        return
      }
      case 'answer': case 'answer-thrice': {
        const job = pick(jobs.tasks, command.job)
        const view = job && await this.#get(job)
        if (job === undefined || view === undefined) return
        if (command.do === 'answer') return await this.#answer(job, view, command.rights)
        // Three clients answer the first question at once.
        await Promise.all([1, 2, 3].map(async () => await this.#answer(job, view, 'full', 1)))
        return
      }
      case 'cancel': {
        const job = pick(jobs.tasks, command.job)
        if (job !== undefined) await this.#cancel(job)
        return
      }
      case 'retry': {
        const job = pick(jobs.retriable, command.job) ?? pick(jobs.tasks, command.job)
        if (job?.id === undefined) return
        job.retries++
        return cluster.retry(replica, job.id)
      }
      case 'listen': {
        const job = pick(jobs.tasks, command.job)
        if (job === undefined) return
        const open = () => this.#parts.streams.open(job)
        return cluster.listen(replica, job.sender, { taskIds: [job.id] }, open)
      }
      case 'open': {
        const sender = senderOf(command.who)
        const reply = await this.#call(replica, sender, 'open', {})
        const id = contentOf(reply)?.id
        if (typeof id === 'string') ledgers.add(id, sender)
        return
      }
      case 'add': case 'drop': case 'show': {
        const ledger = pick(ledgers.all, command.ledger)
        if (ledger === undefined) return
        if (command.do === 'add') await this.#add(ledger, replica)
        else if (command.do === 'drop') await this.#drop(ledger, replica)
        else await this.#show(ledger, command.rights, replica)
        return
      }
      case 'order': return await this.#order(command)
      case 'kill': return cluster.kill(replica, command.ms)
      case 'pause': return cluster.pause(replica, command.ms)
      case 'cut': return cluster.cut(replica, command.ms)
      case 'away':
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
        if (command.isLost) network.state.failOver()
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

  async #begin ({ tool, who, program, replica }: Command & { do: 'begin' }): Promise<void> {
    const { jobs } = this.#parts
    const sender = senderOf(who)
    const job = jobs.add(tool, sender, program)
    // The other tools require tasks.
    const isPlain = tool === 'slow' && jobs.all.length % 2 === 1
    const reply = await this.#call(replica, { ...sender, isPlain }, tool, { job: job.name, program })
    if (reply.kind !== 'result') return
    const taskId = reply.result.taskId ?? callIn(reply)
    if (typeof taskId === 'string') jobs.noteTask(job, taskId)
    else job.known = 'answer'
  }

  async #get (job: Job): Promise<TaskView | undefined> {
    const { jobs, world } = this.#parts
    const before = job.end
    const params = { taskId: job.id }
    const reply = await this.#insist((replica) => this.#send(replica, job.sender, 'tasks/get', params))
    if (reply.kind === 'error' && !jobs.isGone(job)) world.fail(`${job.name} cannot be read: ${reply.message}`)
    if (reply.kind !== 'result') return undefined
    const view = reply.result as unknown as TaskView
    jobs.see(job, view, before)
    return view
  }

  /** Continues a call as a plain client does, with answers to the questions that its model is told of. */
  async #continue (job: Job, right: Right, replica: number): Promise<void> {
    const { jobs, world } = this.#parts
    const before = job.end
    const sender = { ...withRight(job.sender, right), isPlain: true }
    // An answer that is lost may have told the result.
    job.isTold ||= maySee(job, right)
    const reply = await this.#call(replica, sender, 'continue_call', { call: job.id })
    if (reply.kind !== 'result' || /There is no such call/.test(textIn(reply))) return
    if (!maySee(job, right)) return world.fail(`${job.name} was continued with the rights ${right}`)
    const [, names] = /and answers: \{ (.*) \}\. If/.exec(textIn(reply)) ?? []
    if (names !== undefined) {
      const by = `answer-${this.#answers++}`
      job.answers.add(by)
      const asked = [...names.matchAll(/"([^"]+)": \{ "by"/g)].map(([, name]) => [name, { by }] as const)
      const answers = Object.fromEntries(asked)
      await this.#call(replica + 1, sender, 'continue_call', { call: job.id, answers })
    } else if (contentOf(reply)?.values !== undefined) {
      jobs.see(job, { taskId: job.id ?? '', status: 'completed', result: reply.result }, before)
    }
  }

  /** Looks at a task with any rights. */
  async #look (job: Job, right: Right, replica: number): Promise<void> {
    const { jobs, world } = this.#parts
    if (job.tool === 'slow') await this.#continue(job, right, replica)
    const before = job.end
    const reply = await this.#send(replica, withRight(job.sender, right), 'tasks/get', { taskId: job.id })
    if (reply.kind !== 'result') return
    if (!maySee(job, right)) return world.fail(`${job.name} was shown to the rights ${right}`)
    jobs.see(job, reply.result as unknown as TaskView, before)
  }

  #lookAtAll (replica: number): void {
    for (const job of this.#parts.jobs.tasks) {
      this.#look(job, 'full', replica).catch((error: unknown) => this.#parts.world.fail(String(error)))
    }
  }

  async #answer (job: Job, { inputRequests = {} }: TaskView, right: Right, most = 2): Promise<void> {
    const { jobs, world, cluster } = this.#parts
    const by = `answer-${this.#answers++}`
    const names = Object.keys(inputRequests)
    if (names.length === 0) return
    const chosen = names.slice(0, most)
    const response = { action: 'accept', content: { by } }
    const inputResponses = Object.fromEntries(chosen.map((name) => [name, response]))
    if (maySee(job, right)) job.answers.add(by)
    const sender = withRight(job.sender, right)
    const params = { taskId: job.id, inputResponses }
    const reply = await this.#insist((replica) => this.#send(replica, sender, 'tasks/update', params))
    if (reply.kind !== 'result') return
    if (maySee(job, right)) jobs.noteAnswered(job)
    else world.fail(`the rights ${right} have answered ${job.name} at ${cluster.client.name}`)
  }

  async #cancel (job: Job): Promise<void> {
    const { jobs } = this.#parts
    const params = { taskId: job.id }
    const reply = await this.#insist((replica) => this.#send(replica, job.sender, 'tasks/cancel', params))
    if (reply.kind === 'result') jobs.checkCancelled(job)
  }

  async #add (ledger: Ledger, replica: number): Promise<void> {
    const entry = this.#parts.ledgers.nextEntry(ledger)
    const reply = await this.#call(replica, ledger.sender, 'add', { id: ledger.id, entry })
    if (contentOf(reply) !== undefined) ledger.entries.add(entry)
  }

  async #drop (ledger: Ledger, replica: number): Promise<void> {
    const { ledgers } = this.#parts
    ledgers.beginDrop(ledger)
    const reply = await this.#call(replica, ledger.sender, 'drop', { id: ledger.id })
    if (contentOf(reply) !== undefined) ledger.drop = 'acknowledged'
  }

  async #show (ledger: Ledger, right: Right, replica: number): Promise<void> {
    const { ledgers, world } = this.#parts
    const check = ledgers.expect(ledger)
    const sender = withRight(ledger.sender, right)
    const reply = await this.#call(replica, sender, 'show', { id: ledger.id })
    const entries = contentOf(reply)?.entries
    const isUnknown = NO_HANDLE.test(JSON.stringify(reply))
    if (right !== 'stranger') {
      if (Array.isArray(entries)) check(entries.map(String))
      else if (isUnknown) check(undefined)
    } else if (entries !== undefined && ledger.sender.address === undefined) {
      world.fail(`a stranger has read ${ledger.id}`)
    }
  }

  async #order ({ who, copies, hasKey, replica, ms, fails }: Command & { do: 'order' }): Promise<void> {
    const { cluster, orders } = this.#parts
    const number = this.#orders++
    const [key, caller] = hasKey ? [`key-${number}`, `caller-${who}`] : ['free', 'all']
    const headers: { [name: string]: string } = hasKey ? { 'idempotency-key': key } : {}
    const id = hasKey ? `order-${number}` : 'same'
    const params = { name: 'order', arguments: { key, caller, ms, fails: fails && hasKey } }
    await Promise.all(Array.from({ length: copies }, async (_, copy) => {
      const send = async (index: number) => (
        await cluster.send(index, senderOf(who), 'tools/call', params, headers, id)
      )
      await this.#parts.world.pause(cluster.client, copy * ms)
      const reply = hasKey && copy > 0 ? await this.#insist(send) : await send(replica + copy)
      const value = contentOf(reply)?.value
      if (value !== undefined) orders.see(key, caller, String(value))
    }))
  }

  /** Sends the request again until it has an answer, to another replica each time. */
  async #insist (send: (replica: number) => Promise<Reply>): Promise<Reply> {
    const { world, cluster } = this.#parts
    for (let attempt = 1; ; attempt++) {
      const reply = await send(this.#replica++)
      const isFinal = reply.kind === 'result' ||
        (this.#isCalm && reply.kind === 'error' && reply.code === NOT_FOUND)
      if (isFinal || attempt === ATTEMPTS) return isFinal ? reply : { kind: 'lost' }
      await world.pause(cluster.client, PAUSE_MS)
    }
  }

  async #call (replica: number, sender: Sender, name: string, args: object): Promise<Reply> {
    return await this.#send(replica, sender, 'tools/call', { name, arguments: args })
  }

  async #send (replica: number, sender: Sender, method: string, params: object): Promise<Reply> {
    return await this.#parts.cluster.send(replica, sender, method, params)
  }
}

function pick<T> (all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(1, all.length)]
}

function textIn (reply: Reply): string {
  return reply.kind === 'result' ? String(reply.result.content?.[0]?.text ?? '') : ''
}

/** The task that a text tells a model to continue. */
function callIn (reply: Reply): string | undefined {
  return /continue_call with call: "(task_[\w-]+)/.exec(textIn(reply))?.[1]
}

function maySee ({ tool, sender }: Job, right: Right): boolean {
  if (right === 'stranger') return false
  return right !== 'none' || tool !== 'guarded' || sender.address !== undefined
}

/** The structured content of a call that did not fail. */
function contentOf (reply: Reply): { readonly [member: string]: unknown } | undefined {
  if (reply.kind !== 'result' || reply.result.isError === true) return undefined
  return reply.result.structuredContent
}
