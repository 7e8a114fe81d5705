// What clients do with tasks: they begin, read, answer and cancel them, each in its own way.

import type { Reply, Sender, SendOptions } from './cluster.ts'
import type { CommandParts } from './command-parts.ts'
import type { Access, Job, SentAnswer, TaskView } from './models/job.ts'
import { TERMINAL } from './models/records.ts'
import type { Command, RIGHTS, WAYS } from './plan.ts'
import { SENDER_COUNT, senderOf, withRight } from './senders.ts'
import { contentOf, textIn, type Sending } from './sending.ts'

type Right = typeof RIGHTS[number]
type Way = typeof WAYS[number]

/** The tools that a client without tasks can call. */
const PLAIN = new Set(['slow', 'gentle'])
/** How often an attentive user looks, and how long after each other. In milliseconds. */
const ATTENTIVE_LOOKS = 8
const ATTENTIVE_MS = 1900
/** How often a client without a user answers. */
const MAX_ROUNDS = 5
/** A call that was told is kept for a minute. In milliseconds. */
const KEPT_MS = 50_000
/** The record of a short task expires after a minute, of which its replica may be paused for the rest. */
const SHORT_MS = 20_000

export class TaskClients {
  readonly #parts: CommandParts
  readonly #sending: Sending
  /** Whether a call has one name on all replicas: they seal with one secret. */
  readonly #hasOneSecret: boolean

  constructor (parts: CommandParts, sending: Sending, hasOneSecret: boolean) {
    this.#parts = parts
    this.#sending = sending
    this.#hasOneSecret = hasOneSecret
  }

  async begin (
    { tool, who, program, replica, copies = 1, apartMs = 0, leavesMs, twin }: Command & { do: 'begin' }
  ): Promise<void> {
    const { jobs } = this.#parts
    const count = this.#hasOneSecret ? copies : 1
    const isPlain = PLAIN.has(tool) && (leavesMs !== undefined || jobs.all.length % 2 === 1)
    const job = jobs.add(tool, senderOf(who), program, { isPlain, copies: count })
    const hasKey = count > 1 || twin !== undefined
    const options: SendOptions = hasKey ? { headers: { 'idempotency-key': job.name } } : {}
    if (leavesMs !== undefined) {
      Object.assign(options, {
        leavesMs,
        onLeave: (process: NonNullable<Job['abandoned']>['process']) => {
          job.abandoned = { process, at: this.#parts.world.now }
        }
      })
    }
    if (twin !== undefined) {
      const other = jobs.add(twin.tool, senderOf(twin.who), program)
      // The same call of the same caller would be a repetition with other arguments.
      const isOther = twin.tool !== tool || twin.who % SENDER_COUNT !== who % SENDER_COUNT
      if (isOther) await this.#call(other, replica + 1, options)
    }
    await Promise.all(Array.from({ length: count }, async (_, copy) => {
      // A call whose record has expired begins anew.
      if (tool === 'shortly' && copy * apartMs > SHORT_MS) return
      if (copy > 0) await this.#sending.pause(copy * apartMs)
      await this.#call(job, replica + copy, options)
    }))
    if (job.id !== undefined && program.some((operation) => 'lateMs' in operation)) await this.#attend(job)
  }

  /** Waits for the question beside a sleep, and answers it when the sleep ends. */
  async #attend (job: Job): Promise<void> {
    for (let look = 0; look < ATTENTIVE_LOOKS && job.end === undefined; look++) {
      await this.#sending.pause(ATTENTIVE_MS)
      const view = await this.get(job)
      const names = Object.keys(view?.inputRequests ?? {})
      const isBeside = names.some((name) => /^ask-(and-sleep|or-sleep|and-ask-later)-\d+-a/.test(name))
      if (isBeside && view !== undefined) {
        return await this.answer(job, view, 'full', { most: 1, ms: 2 * job.program.length * look + 1 })
      }
    }
  }

  async #call (job: Job, replica: number, options: SendOptions): Promise<void> {
    const { jobs, world } = this.#parts
    const { name, tool, program, isPlain, copies } = job
    const sender = { ...job.sender, isPlain }
    const access = jobs.runs.access(job, job.sender.principal.scopes)
    // A call that was told is forgotten: then it begins anew.
    if (job.toldAt !== undefined && world.now > job.toldAt + KEPT_MS) return
    const before = jobs.before(job)
    const params = { name: tool, arguments: { job: name, program } }
    const isAbsent = isPlain && copies === 1 && Number(name.split('-')[1]) % 8 === 7
    const reply = isAbsent
      ? await this.#callAbsent(job, replica, { ...sender, hasForms: true }, params, options)
      : await this.#sending.send(replica, sender, 'tools/call', params, options)
    // An answer that is lost may have told the result.
    job.isTold ||= isPlain && callIn(reply) === undefined
    if (reply.kind !== 'result') return
    if (/belongs to a call with other arguments/.test(textIn(reply))) {
      world.fail(`${name} was taken for a repetition of another call`)
    }
    const taskId = reply.result.taskId ?? callIn(reply)
    if (typeof taskId === 'string') {
      jobs.noteTask(job, taskId)
      if (job.endedAt === undefined) access.ackedAt = world.now
      const names = readNames(reply)
      if (names !== undefined) jobs.questions.see(job, { inputRequests: toMembers(names) }, before.at)
      return
    }
    if (copies === 1) job.known = 'answer'
    else job.isTold = true
    if (!isPlain || contentOf(reply) === undefined) return
    job.toldAt ??= world.now
    jobs.see(job, { taskId: job.id ?? '', status: 'completed', result: reply.result }, before)
  }

  /** Calls as a client that has nobody whom it could ask: it cancels each question. */
  async #callAbsent (
    job: Job, replica: number, sender: Sender, params: object, options: SendOptions
  ): Promise<Reply> {
    const { questions } = this.#parts.jobs
    let reply = await this.#sending.send(replica, sender, 'tools/call', params, options)
    for (let round = 0; round < MAX_ROUNDS && inputIn(reply) !== undefined; round++) {
      const { requestState, inputRequests } = inputIn(reply) ?? {}
      const names = Object.keys(inputRequests ?? {})
      for (const name of names) questions.send(job, name, { by: 'cancel' })
      const inputResponses = Object.fromEntries(names.map((name) => [name, { action: 'cancel' }]))
      const answer = { ...params, inputResponses, requestState }
      reply = await this.#sending.send(replica + 1, sender, 'tools/call', answer, options)
    }
    return inputIn(reply) === undefined ? reply : { kind: 'lost' }
  }

  async get (job: Job): Promise<TaskView | undefined> {
    const { jobs, world } = this.#parts
    const before = jobs.before(job)
    const access = jobs.runs.access(job, job.sender.principal.scopes)
    const params = { taskId: job.id }
    const reply = await this.#sending.insist((replica) => (
      this.#sending.send(replica, job.sender, 'tasks/get', params)
    ))
    if (reply.kind === 'error' && !jobs.isGone(job)) world.fail(`${job.name} cannot be read: ${reply.message}`)
    if (reply.kind !== 'result') return undefined
    const view = reply.result as unknown as TaskView
    jobs.see(job, view, before)
    this.#confirm(access, view)
    return view
  }

  /** Looks at a task with any rights. */
  async look (job: Job, right: Right, replica: number): Promise<void> {
    const { jobs, world } = this.#parts
    if (PLAIN.has(job.tool)) await this.#continue(job, right, replica)
    const before = jobs.before(job)
    const access = this.#accessOf(job, right)
    const sender = withRight(job.sender, right)
    const reply = await this.#sending.send(replica, sender, 'tasks/get', { taskId: job.id })
    if (reply.kind !== 'result') return
    if (access === undefined) return world.fail(`${job.name} was shown to the rights ${right}`)
    const view = reply.result as unknown as TaskView
    jobs.see(job, view, before)
    this.#confirm(access, view)
  }

  /** A task that has ended keeps the rights that it had. */
  #confirm (access: Access, { status }: TaskView): void {
    if (!TERMINAL.has(status)) access.ackedAt = this.#parts.world.now
  }

  /** Continues a call as a plain client does, with answers to the questions that its model is told of. */
  async #continue (job: Job, right: Right, replica: number): Promise<void> {
    const { jobs, world } = this.#parts
    const before = jobs.before(job)
    const sender = { ...withRight(job.sender, right), isPlain: true }
    const access = this.#accessOf(job, right)
    // An answer that is lost may have told the result.
    if (access !== undefined) job.isTold = true
    const reply = await this.#sending.call(replica, sender, 'continue_call', { call: job.id })
    if (reply.kind !== 'result' || /There is no such call/.test(textIn(reply))) return
    if (access === undefined) return world.fail(`${job.name} was continued with the rights ${right}`)
    const names = readNames(reply)
    if (names !== undefined) {
      access.ackedAt = world.now
      jobs.questions.see(job, { inputRequests: toMembers(names) }, before.at)
      await this.#passOn(job, right, names, replica + 1)
    } else if (contentOf(reply)?.values !== undefined) {
      jobs.see(job, { taskId: job.id ?? '', status: 'completed', result: reply.result }, before)
    }
  }

  /** Passes answers on, or declines, as a model does. */
  async #passOn (job: Job, right: Right, names: readonly string[], replica: number): Promise<void> {
    const { jobs: { questions } } = this.#parts
    const sender = { ...withRight(job.sender, right), isPlain: true }
    const access = this.#accessOf(job, right)
    const declines = replica % 4 === 0
    const scopes = access?.scopes
    const sent = names.map((name) => questions.send(job, name, { scopes, ...declines && { by: 'decline' } }))
    const answers = Object.fromEntries(sent.map(({ name, by }) => [name, { by }]))
    const args = { call: job.id, ...declines ? { decline: true } : { answers } }
    const reply = await this.#sending.call(replica, sender, 'continue_call', args)
    if (reply.kind === 'result' && reply.result.isError !== true) this.#acknowledge(job, sent, access)
  }

  /** Answers open questions. @param most how many of them. */
  async answer (
    job: Job, { inputRequests = {} }: TaskView, right: Right,
    { way = 'all', most = Infinity, ms = 0 }: { way?: Way, most?: number, ms?: number | undefined } = {}
  ): Promise<void> {
    const { world, jobs: { questions } } = this.#parts
    const names = Object.keys(inputRequests)
    if (names.length === 0) return
    const waitMs = this.#toReminder(job, names, ms)
    if (waitMs > 0) await this.#sending.pause(waitMs)
    const access = this.#accessOf(job, right)
    const isAllowed = access !== undefined
    const chosen = names.slice(0, way === 'one' ? 1 : most)
    const sent = chosen.map((name) => questions.send(job, name, {
      isAllowed, isFit: way !== 'unfit', scopes: access?.scopes, ...way === 'decline' && { by: 'decline' }
    }))
    const inputResponses = Object.fromEntries(sent.map((answer) => [answer.name, toResponse(answer, way)]))
    const params = { taskId: job.id, inputResponses }
    const sender = withRight(job.sender, right)
    const reply = await this.#sending.insist((replica) => (
      this.#sending.send(replica, sender, 'tasks/update', params)
    ))
    if (reply.kind !== 'result') return
    if (isAllowed) this.#acknowledge(job, sent, access)
    else world.fail(`the rights ${right} have answered ${job.name}`)
  }

  /**
   * Returns when a user answers. Every other one waits for the end of a sleep beside the question, and
   * answers while the handler runs again.
   */
  #toReminder ({ program, sleeps }: Job, names: readonly string[], ms: number): number {
    const { now } = this.#parts.world
    if (ms % 2 === 0) return ms
    const ends = program.flatMap((operation, index) => {
      const key = `${operation.do}-${index}`
      const since = sleeps.get(key)
      const isBeside = since !== undefined && 'lateMs' in operation && names.includes(`${key}-a`)
      return isBeside ? [since + operation.ms + (131 * ms) % (1 + (operation.lateMs ?? 0)) - now] : []
    })
    return Math.max(0, ...ends)
  }

  #acknowledge (job: Job, sent: readonly SentAnswer[], access: Access | undefined): void {
    const { world, jobs: { questions } } = this.#parts
    questions.acknowledge(job, sent)
    const isTaken = sent.some((answer) => answer.by !== 'decline' && questions.isTaken(job, answer))
    if (access !== undefined && isTaken) access.ackedAt = world.now
  }

  async cancel (job: Job, right: Right): Promise<void> {
    const { jobs, world } = this.#parts
    const isAllowed = maySee(job, right)
    if (isAllowed) job.cancels++
    const sender = { ...withRight(job.sender, right), isPlain: job.isPlain }
    const reply = await this.#sending.insist(async (replica) => {
      if (!job.isPlain) return await this.#sending.send(replica, sender, 'tasks/cancel', { taskId: job.id })
      this.#accessOf(job, right)
      job.isTold ||= isAllowed
      return await this.#sending.call(replica, sender, 'continue_call', { call: job.id, cancel: true })
    })
    if (reply.kind !== 'result' || /There is no such call/.test(textIn(reply))) return
    if (isAllowed) jobs.checkCancelled(job)
    else world.fail(`the rights ${right} have cancelled ${job.name}`)
  }

  /** Notes an access with these rights. `undefined` if they must not see the task. */
  #accessOf (job: Job, right: Right): Access | undefined {
    const { principal: { scopes } } = withRight(job.sender, right)
    return maySee(job, right) ? this.#parts.jobs.runs.access(job, scopes) : undefined
  }
}

function toResponse ({ by }: SentAnswer, way: Way): object {
  if (way === 'decline') return { action: 'decline' }
  return { action: 'accept', content: way === 'unfit' ? { by: 7 } : { by } }
}

/** The questions of a reply that is not the last one. */
function inputIn (
  reply: Reply
): { readonly requestState?: unknown, readonly inputRequests?: object } | undefined {
  return reply.kind === 'result' && reply.result.resultType === 'input_required' ? reply.result : undefined
}

/** The task that a text tells a model to continue. */
function callIn (reply: Reply): string | undefined {
  return /continue_call with call: "(task_[\w-]+)/.exec(textIn(reply))?.[1]
}

/** The questions that a text tells a model to pass on. */
function readNames (reply: Reply): readonly string[] | undefined {
  const [, names] = /and answers: \{ (.*) \}\. If/.exec(textIn(reply)) ?? []
  return names === undefined ? undefined : [...names.matchAll(/"([^"]+)": \{ "by"/g)].map(([, name = '']) => name)
}

function toMembers (names: readonly string[]): { [name: string]: unknown } {
  return Object.fromEntries(names.map((name) => [name, {}]))
}

function maySee ({ tool, sender }: Job, right: Right): boolean {
  if (right === 'stranger') return false
  return right !== 'none' || tool !== 'guarded' || sender.address !== undefined
}
