// The replicas of a run as processes, and the way of a request to one of them, over HTTP.

import { readMessages, toPost, type Message } from '../../helpers/request.ts'
import type { Principal } from '../../../src/platform/access/principal.ts'
import { TASKS_CAPABILITY } from '../../../src/platform/protocol/tasks.ts'
import type { MessageSink } from '../../../src/platform/store/changes/message-sink.ts'
import type { Reply, Sender, SendOptions } from '../cluster.ts'
import type { Process } from '../world.ts'
import { writeRelease } from './catalogs.ts'
import { RealReplica } from './replica.ts'
import type { RealWorld } from './world.ts'

type Environment = { readonly [name: string]: string }
export interface RealOptions { readonly secrets: readonly string[], readonly release: 0 | 1 }

interface Place {
  readonly environment: Environment
  readonly folder: string
  options: RealOptions
  replica: RealReplica | undefined
  /** Settles after the last start. */
  starting: Promise<void>
  /** Whether a command changes it. Other changes are left out meanwhile. */
  isBusy: boolean
  pausedUntil: number
}

const META = {
  'io.modelcontextprotocol/clientCapabilities': { ...TASKS_CAPABILITY, elicitation: { form: {} } }
}
/** A client waits this long for an answer, in milliseconds of the machine. */
const PATIENCE_MS = 15_000

export class RealCluster {
  readonly #world: RealWorld
  readonly #tokenOf: (principal: Principal) => string
  readonly #places: Place[]
  readonly client
  readonly #processes = new Map<number, Process>()
  /** Called before the models see an answer: what handlers did until then. */
  onAnswer: () => void = () => {}
  losses = 0
  #starts = 0
  #requests = 0
  #isClosed = false

  constructor (
    world: RealWorld, places: ReadonlyArray<Pick<Place, 'environment' | 'folder' | 'options'>>,
    tokenOf: (principal: Principal) => string
  ) {
    this.#world = world
    this.#tokenOf = tokenOf
    this.client = world.createProcess('client')
    this.#places = places.map((place) => (
      { ...place, replica: undefined, starting: Promise.resolve(), isBusy: false, pausedUntil: 0 }
    ))
  }

  async open (): Promise<void> {
    await Promise.all(this.#places.map(async (place) => await this.#start(place)))
  }

  processOf (pid: number): Process { return this.#processes.get(pid) ?? this.client }

  /** A busy machine may cost any replica its lease at any time. */
  isUndisturbed (): boolean { return false }

  /** Nobody knows when a replica has renewed its leases. */
  leaseLostUntil (): number { return -Infinity }

  /** The store is never away. */
  readonly outageEnd = -Infinity

  /** A signal stops a process at any instruction. */
  readonly stopsBetweenEvents = false

  /** Nobody knows whose event runs: a crash counts in any case. */
  readonly isCurrentStopping = false

  kill (index: number, downMs: number): void {
    const place = this.#at(index)
    if (place.isBusy) return
    this.#do(place, async () => {
      this.losses++
      this.#world.note('kills a replica')
      await place.replica?.end('SIGKILL')
      await this.#world.pause(this.client, downMs)
      await this.#start(place)
    })
  }

  pause (index: number, ms: number): void {
    const place = this.#at(index)
    if (place.isBusy) return
    this.#do(place, async () => {
      this.losses++
      place.replica?.signal('SIGSTOP')
      place.pausedUntil = this.#world.now + ms
      while (this.#world.now < place.pausedUntil) await this.#world.pause(this.client, 100)
      place.replica?.signal('SIGCONT')
    })
  }

  restart (index: number, options: Partial<RealOptions>): void {
    const place = this.#at(index)
    if (place.isBusy) return
    this.#do(place, async () => {
      this.losses++
      await place.replica?.end('SIGTERM')
      place.options = { ...place.options, ...options }
      await this.#start(place)
    })
  }

  reload (index: number, release: 0 | 1): void {
    const place = this.#at(index)
    if (place.isBusy) return
    place.options = { ...place.options, release }
    this.#do(place, async () => {
      await writeRelease(place.folder, release)
      place.replica?.signal('SIGHUP')
    })
  }

  /** Brings all replicas to one state: the second release, and all secrets. */
  async calm (secrets: readonly string[]): Promise<void> {
    await Promise.all(this.#places.map(async (place) => {
      place.pausedUntil = 0
      await this.#settled(place)
      this.restart(this.#places.indexOf(place), { secrets, release: 1 })
      await this.#settled(place)
    }))
  }

  async close (): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#places.map(async (place) => {
      place.pausedUntil = 0
      await this.#settled(place)
      await place.replica?.end('SIGKILL')
    }))
  }

  listen (index: number, sender: Sender, notifications: object, open: () => MessageSink): void {
    const { replica } = this.#at(index)
    if (replica === undefined || replica.process.isDead) return
    this.#world.current = replica.process
    const sink = open()
    this.#follow(replica, sender, { notifications }, sink).catch(() => {}).finally(() => sink.cut())
  }

  async send (
    index: number, { principal }: Sender, method: string, params: object,
    { headers = {}, id = `request-${++this.#requests}` }: SendOptions = {}
  ): Promise<Reply> {
    const { replica } = this.#at(index)
    const what = `${method} ${JSON.stringify(params).slice(0, 90)}`
    this.#world.note(`sends ${what}`)
    const parts = {
      method, params: { ...params }, id, headers: { ...headers, ...this.#authorize(principal) }, meta: META
    }
    const reply = replica === undefined ? LOST : await this.#post(replica, parts)
    this.onAnswer()
    this.#world.note(`gets ${JSON.stringify(reply).slice(0, 160)} for ${what}`)
    return reply
  }

  async #post (replica: RealReplica, parts: Parameters<typeof toPost>[0]): Promise<Reply> {
    const { headers, body } = toPost(parts)
    try {
      const answer = await fetch(replica.url, {
        method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS)
      })
      const type = answer.headers.get('content-type') ?? ''
      const message: Message = readMessages(await answer.text(), type).at(-1)
      if (message?.result !== undefined) return { kind: 'result', result: message.result }
      const { code, message: text } = message.error
      return { kind: 'error', code, message: text }
    } catch {
      return LOST
    }
  }

  async #follow (
    replica: RealReplica, { principal }: Sender, params: object, sink: MessageSink
  ): Promise<void> {
    const { headers, body } = toPost({
      method: 'subscriptions/listen',
      params: { ...params },
      id: `stream-${++this.#requests}`,
      headers: this.#authorize(principal),
      meta: META
    })
    const { body: stream } = await fetch(replica.url, { method: 'POST', headers, body })
    let text = ''
    for await (const chunk of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = `${text}${chunk}`.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        this.onAnswer()
        if (event.startsWith('data: ')) sink.send(event.slice('data: '.length))
      }
    }
  }

  #authorize (principal: Principal) { return { authorization: `Bearer ${this.#tokenOf(principal)}` } }

  async #start (place: Place): Promise<void> {
    const { environment, folder, options: { release, secrets } } = place
    await writeRelease(folder, release)
    const process = this.#world.createProcess(`r${this.#places.indexOf(place)}.${++this.#starts}`)
    const replica = await RealReplica.start(
      process, { ...environment, TRIVET_SECRETS: secrets.join(','), TRIVET_CATALOG: folder },
      // A handler has ended it.
      () => { if (!place.isBusy && !this.#isClosed) this.kill(this.#places.indexOf(place), 1000) }
    )
    this.#processes.set(replica.pid, process)
    place.replica = replica
  }

  /** Changes a replica. */
  #do (place: Place, work: () => Promise<void>): void {
    place.isBusy = true
    place.starting = work().catch((error: unknown) => {
      this.#world.fail(`a replica cannot be changed: ${String(error)}`)
    }).finally(() => { place.isBusy = false })
  }

  async #settled (place: Place): Promise<void> {
    while (place.isBusy) await place.starting
  }

  #at (index: number): Place {
    const place = this.#places[index % this.#places.length]
    if (place === undefined) throw new RangeError('no replicas')
    return place
  }
}

const LOST = { kind: 'lost' } as const
