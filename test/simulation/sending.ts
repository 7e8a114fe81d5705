// How clients send requests: they ask again when they have no answer.

import type { Reply, Sender, SendOptions } from './cluster.ts'
import type { CommandParts } from './command-parts.ts'

/** The error for a task that is unknown, or hidden. */
const NOT_FOUND = -32602
/** How often a client asks again, and how long it waits between, in milliseconds. */
const ATTEMPTS = 12
const PAUSE_MS = 1000

export class Sending {
  readonly #parts: Pick<CommandParts, 'world' | 'cluster'>
  /** Whether all replicas know all secrets. Before, one may not know a task. */
  isCalm = false
  #replica = 0

  constructor (parts: Pick<CommandParts, 'world' | 'cluster'>) {
    this.#parts = parts
  }

  /** Sends the request again until it has an answer, to another replica each time. */
  async insist (send: (replica: number) => Promise<Reply>): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const reply = await send(this.#replica++)
      const isFinal = reply.kind === 'result' ||
        (this.isCalm && reply.kind === 'error' && reply.code === NOT_FOUND)
      if (isFinal || attempt === ATTEMPTS) return isFinal ? reply : { kind: 'lost' }
      await this.pause(PAUSE_MS)
    }
  }

  async call (
    replica: number, sender: Sender, name: string, args: object, options: SendOptions = {}
  ): Promise<Reply> {
    return await this.send(replica, sender, 'tools/call', { name, arguments: args }, options)
  }

  async send (
    replica: number, sender: Sender, method: string, params: object, options: SendOptions = {}
  ): Promise<Reply> {
    return await this.#parts.cluster.send(replica, sender, method, params, options)
  }

  async pause (ms: number): Promise<void> {
    const { world, cluster } = this.#parts
    await world.pause(cluster.client, ms)
  }
}

export function textIn (reply: Reply): string {
  return reply.kind === 'result' ? String(reply.result.content?.[0]?.text ?? '') : ''
}

/** The structured content of a call that did not fail. */
export function contentOf (reply: Reply): { readonly [member: string]: unknown } | undefined {
  if (reply.kind !== 'result' || reply.result.isError === true) return undefined
  return reply.result.structuredContent
}
