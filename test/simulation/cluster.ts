// The replicas of a run, and the way of a request to one of them. A replica that ends starts again.

import type { Principal } from '../../src/platform/access/principal.ts'
import { readEnvelope, toEnvelopeJson } from '../../src/platform/protocol/envelope.ts'
import { isRequest, readMessage } from '../../src/platform/protocol/json-rpc.ts'
import { TASKS_CAPABILITY } from '../../src/platform/protocol/tasks.ts'
import { ClientGone, type Lifetime } from '../../src/request/pipeline/lifetime.ts'
import type { MessageSink } from '../../src/platform/store/changes/message-sink.ts'
import type { SimulatedBroadcast } from './broadcast.ts'
import { createProgressCheck } from './models/request-progress.ts'
import type { Network, Node } from './network.ts'
import type { SeededRandom } from './random.ts'
import type { Releases } from './releases.ts'
import { LEASE_MS, openReplica, type Replica, type ReplicaOptions } from './replica.ts'
import type { Process, World } from './world.ts'

/** Who sends a request. */
export interface Sender {
  readonly principal: Principal
  readonly address?: string
  /** Whether the client has neither tasks nor elicitation. */
  readonly isPlain?: boolean
  /** Whether it declares elicitation all the same. */
  readonly hasForms?: boolean
}

/** `lost`: the client does not know whether the request was served. */
export type Reply =
  | { readonly kind: 'result', readonly result: { readonly [member: string]: any } }
  | { readonly kind: 'error', readonly code: number, readonly message: string }
  | { readonly kind: 'lost' }

export interface SendOptions {
  readonly headers?: { [name: string]: string }
  readonly id?: string | number
  /** The client hangs up after this time, unless it has its answer. In milliseconds. */
  readonly leavesMs?: number
  /** Called when it does. */
  onLeave? (process: Process): void
}

interface Place {
  node: Node
  replica: Replica
  options: ReplicaOptions
  isStopping: boolean
  /** Ends the requests that wait for an answer of this replica. */
  readonly waiting: Set<() => void>
}

const CLIENT = {
  info: { name: 'simulation', version: '1.0.0' },
  capabilities: { ...TASKS_CAPABILITY, elicitation: { form: {} } }
}
/** A client waits this long for an answer, in milliseconds. */
const PATIENCE_MS = 60_000
const MAX_DELAY_MS = 20

function refuseStream (): never { throw new TypeError('this request opens no stream') }

interface ClusterParts {
  readonly world: World
  readonly network: Network
  readonly broadcast: SimulatedBroadcast
  readonly releases: Releases
  readonly random: SeededRandom
}

export class Cluster {
  readonly #parts: ClusterParts
  readonly client: Process
  readonly #places: Place[] = []
  #starts = 0
  #requests = 0
  /** How often a replica has ended without a warning, was paused, or was cut off. */
  losses = 0

  constructor (parts: ClusterParts, replicas: readonly ReplicaOptions[]) {
    this.#parts = parts
    this.client = parts.world.createProcess('client')
    for (const options of replicas) {
      const place = { options, isStopping: false, waiting: new Set<() => void>() } as Place
      this.#places.push(place)
      this.#start(place)
    }
  }

  get size (): number { return this.#places.length }

  /** Whether nothing has happened to a process since then that can cost it its lease. */
  isUndisturbed (process: Process, since: number): boolean {
    const { network } = this.#parts
    const place = this.#places.find(({ node }) => node.process === process)
    return place !== undefined && !process.isDead && !place.isStopping &&
      Math.max(process.pausedUntil, place.node.cutUntil, network.awayUntil, network.splitAt) < since
  }

  /** Whether a replica is paused only between two events: nothing lies between a check and its effect. */
  readonly stopsBetweenEvents: boolean = true

  /** When the last outage ended that each replica has noticed. */
  get outageEnd (): number {
    const { awayAt, awayUntil } = this.#parts.network
    return awayUntil - awayAt >= LEASE_MS + 2000 ? awayUntil : -Infinity
  }

  /** When the last pause of a process ended, if its leases had ended by then. */
  leaseLostUntil ({ pausedAt, pausedUntil }: Process): number {
    return pausedUntil - pausedAt >= LEASE_MS ? pausedUntil : -Infinity
  }

  /** Ends a replica at once. */
  kill (index: number, downMs: number, why = 'by a command'): void {
    const place = this.#at(index)
    const { world } = this.#parts
    const { process } = place.node
    if (process.isDead) return
    this.losses++
    world.note(`${process.name} killed ${why}`)
    process.isDead = true
    this.#failWaiting(place)
    world.schedule(this.client, downMs, () => this.#start(place))
  }

  /** Whether the replica whose event runs is told to stop: it has given its tasks back, or does so. */
  get isCurrentStopping (): boolean {
    const { current } = this.#parts.world
    return this.#places.some(({ node, isStopping }) => isStopping && node.process === current)
  }

  /** The one whose event runs. */
  killCurrent (why: string): void {
    const { world, random } = this.#parts
    const index = this.#places.findIndex(({ node }) => node.process === world.current)
    if (index !== -1) this.kill(index, 500 + random.below(3000), why)
  }

  pause (index: number, ms: number): void {
    const { world } = this.#parts
    const { process } = this.#at(index).node
    this.losses++
    if (process.pausedUntil < world.now) process.pausedAt = world.now
    process.pausedUntil = Math.max(process.pausedUntil, world.now + ms)
    world.note(`${process.name} paused for ${ms}`)
  }

  cut (index: number, ms: number): void {
    const { node } = this.#at(index)
    this.losses++
    node.cutUntil = Math.max(node.cutUntil, this.#parts.world.now + ms)
  }

  /** Sets the clock of the system: only times of day change. */
  setClock (index: number, aheadMs: number): void { this.#at(index).node.process.aheadMs = aheadMs }

  /** Ends a replica as a deploy does, and starts it with other options. */
  restart (index: number, options: Partial<ReplicaOptions>): void {
    const place = this.#at(index)
    const { world } = this.#parts
    const { process } = place.node
    if (process.isDead || place.isStopping) return
    place.isStopping = true
    place.options = { ...place.options, ...options }
    world.schedule(process, 0, () => {
      this.losses++
      place.replica.stop().then(() => {
        process.isDead = true
        this.#failWaiting(place)
        world.schedule(this.client, 100, () => this.#start(place))
      }, (error: unknown) => world.fail(`a replica did not stop: ${String(error)}`))
    })
  }

  /** Replaces the catalog of a replica that runs. */
  reload (index: number, release: 0 | 1): void {
    const place = this.#at(index)
    place.options = { ...place.options, release }
    const { catalog, process } = place.replica
    this.#parts.world.schedule(process, 0, () => {
      catalog.replace(catalog.current, this.#parts.releases[release])
    })
  }

  /** Asks a replica to run a task that waits, or its undo, as an operator does. */
  retry (index: number, id: string): void {
    const place = this.#findServing(index)
    if (place === undefined) return
    this.#parts.world.schedule(place.node.process, MAX_DELAY_MS, () => {
      place.replica.tasks.operator.retry(id).catch(() => {})
    })
  }

  /** Brings all replicas to one state: the second release, all secrets. One that is paused goes on later. */
  calm (secrets: readonly string[]): void {
    const { now } = this.#parts.world
    for (const [index, place] of this.#places.entries()) {
      const { node, options } = place
      node.cutUntil = Math.min(node.cutUntil, now)
      place.options = { secrets, release: 1 }
      // A replica that is dead or stops starts with these.
      if (options.secrets.join() === secrets.join()) this.reload(index, 1)
      else this.restart(index, {})
    }
  }

  /** Opens a stream at a replica that serves. @param open called there. */
  listen (index: number, sender: Sender, notifications: object, open: () => MessageSink): void {
    const place = this.#findServing(index)
    if (place === undefined) return
    this.#parts.world.schedule(place.node.process, MAX_DELAY_MS, () => {
      const request = { id: `stream-${++this.#requests}`, method: 'subscriptions/listen', params: { notifications } }
      this.#serve(place, sender, { ...request, headers: {} }, () => {}, open)
    })
  }

  /** Sends a request to a replica that serves. */
  async send (
    index: number, sender: Sender, method: string, params: object,
    { headers = {}, id = `request-${++this.#requests}`, leavesMs, onLeave }: SendOptions = {}
  ): Promise<Reply> {
    const { world, random } = this.#parts
    const place = this.#findServing(index)
    const what = `${method} ${JSON.stringify(params).slice(0, 90)}`
    if (place === undefined) return { kind: 'lost' }
    world.note(`sends ${what} to ${place.node.process.name}`)
    const reply = await new Promise<Reply>((resolve) => {
      const settle = (reply: Reply) => {
        place.waiting.delete(lose)
        world.schedule(this.client, random.below(MAX_DELAY_MS), () => resolve(reply))
      }
      const lose = () => settle({ kind: 'lost' })
      place.waiting.add(lose)
      world.schedule(this.client, PATIENCE_MS, lose)
      const { process } = place.node
      // The work parts from the request, which then waits for it.
      let pending: Lifetime | undefined
      world.schedule(process, random.below(MAX_DELAY_MS), () => {
        const onPending = (lifetime: Lifetime) => { pending = lifetime }
        this.#serve(place, sender, { id, method, params, headers }, settle, undefined, onPending)
        if (leavesMs === undefined) return
        world.schedule(process, leavesMs, () => {
          if (pending?.isActive !== true) return
          onLeave?.(process)
          pending.stop(new ClientGone())
        })
      })
    })
    world.note(`gets ${JSON.stringify(reply).slice(0, 160)} for ${what}`)
    return reply
  }

  #serve (
    { replica, node: { process } }: Place, { principal, address, isPlain, hasForms }: Sender,
    { id, method, params, headers }: {
      id: string | number, method: string, params: object, headers: { [name: string]: string }
    },
    settle: (reply: Reply) => void, openStream: () => MessageSink = refuseStream,
    onPending: (lifetime: Lifetime) => void = () => {}
  ): void {
    const capabilities = isPlain === true
      ? { ...hasForms === true && { elicitation: { form: {} } } }
      : CLIENT.capabilities
    const _meta = toEnvelopeJson({ ...CLIENT, capabilities, progressToken: id })
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
    const message = readMessage(JSON.parse(text))
    if (!isRequest(message)) throw new TypeError('the message is not a request')
    const answer = (reply: Reply) => { if (!process.isDead) settle(reply) }
    replica.pipeline.serve(message, {
      principal,
      address,
      envelope: readEnvelope(message.params),
      requestId: String(id),
      log: replica.log,
      headers
    }, {
      onPending,
      notify: createProgressCheck(this.#parts.world, process),
      succeed: (json) => answer({ kind: 'result', result: JSON.parse(String(json)) }),
      fail: ({ code, message }) => answer({ kind: 'error', code, message }),
      leaveUnanswered () {},
      openStream
    })
  }

  #start (place: Place): void {
    const { world } = this.#parts
    const index = this.#places.indexOf(place)
    const process = world.createProcess(`r${index}.${++this.#starts}`)
    const { aheadMs = 0 } = (place.node as Node | undefined)?.process ?? {}
    process.aheadMs = aheadMs
    place.isStopping = false
    place.node = {
      process,
      cutUntil: 0,
      kill: (why, downMs = 500 + this.#parts.random.below(3000)) => this.kill(index, downMs, why),
      pause: (ms) => this.pause(index, ms),
      cut: (ms) => this.cut(index, ms)
    }
    world.as(process, () => {
      world.note('starts')
      place.replica = openReplica(this.#parts, place.node, place.options)
    })
  }

  #findServing (index: number): Place | undefined {
    return this.#places.map((_, offset) => this.#at(index + offset))
      .find(({ node, isStopping }) => !node.process.isDead && !isStopping)
  }

  #failWaiting ({ waiting }: Place): void { for (const lose of [...waiting]) lose() }

  #at (index: number): Place {
    const place = this.#places[index % this.#places.length]
    if (place === undefined) throw new RangeError('no replicas')
    return place
  }
}
