// The subscriber of a cluster. The driver's own may stay deaf for ever: it waits for connections that it has
// stopped while they were opened, and subscribes to nothing until they have. So one that hears nothing is
// replaced by a new one.

import { EventEmitter } from 'node:events'
import type { Cluster } from 'ioredis'

const EVENTS = [
  'ready', 'close', 'end', 'error', 'node error', 'nodeError', '-node', '-subscriber', 'subscribersReady',
  'smessage'
]

export class ClusterSubscriber extends EventEmitter {
  readonly isCluster = true
  readonly #create: () => Cluster
  #client: Cluster

  /** @param create returns a client that is not connected. */
  constructor (create: () => Cluster) {
    super()
    this.#create = create
    this.#client = this.#open()
  }

  get status (): string { return this.#client.status }

  async connect (): Promise<void> { await this.#client.connect() }

  async ssubscribe (channel: string): Promise<unknown> { return await this.#client.ssubscribe(channel) }

  /** A cluster has no other channels. */
  async subscribe (channel: string): Promise<unknown> { return await this.ssubscribe(channel) }

  /** @param reconnect whether a new client takes the place of this one. It is subscribed to nothing. */
  disconnect (reconnect = false): void {
    if (!reconnect) return this.#client.disconnect()
    const former = this.#client
    former.removeAllListeners()
    // Without a listener the driver writes errors to the console.
    for (const event of ['error', 'node error', 'nodeError']) former.on(event, () => {})
    former.disconnect()
    this.#client = this.#open()
    // The driver keeps trying, and the errors are events.
    this.#client.connect().catch(() => {})
  }

  #open (): Cluster {
    const client = this.#create()
    for (const event of EVENTS) client.on(event, (...args: unknown[]) => this.emit(event, ...args))
    return client
  }
}
