// The broadcast of the replicas: a message comes late, twice, in another order, or not at all. Who may have
// lost some is told so once it can be reached.

import type { Broadcast, ReplicaMessage } from '../../src/platform/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../src/platform/store/changes/change-event.ts'
import { createLocalListeners } from '../../src/platform/store/changes/local-listeners.ts'
import type { Node } from './network.ts'
import type { SeededRandom } from './random.ts'
import type { World } from './world.ts'

export interface BroadcastRates { readonly lost: number, readonly twice: number }
export const NO_BROADCAST_FAULTS: BroadcastRates = { lost: 0, twice: 0 }

const MAX_DELAY_MS = 500
/** Within this time a replica learns that it has lost messages, in milliseconds. */
const MAX_UNNOTICED_MS = 5000

interface Member extends Node {
  readonly events: ReturnType<typeof createLocalListeners<ChangeEvent>>
  readonly messages: ReturnType<typeof createLocalListeners<ReplicaMessage>>
}

export class SimulatedBroadcast {
  readonly #world: World
  readonly #random: SeededRandom
  readonly #members = new Set<Member>()
  rates: BroadcastRates

  constructor (world: World, random: SeededRandom, rates: BroadcastRates) {
    this.#world = world
    this.#random = random
    this.rates = rates
  }

  open (node: Node): Broadcast {
    const events = createLocalListeners<ChangeEvent>()
    const messages = createLocalListeners<ReplicaMessage>()
    const member = Object.assign(node, { events, messages })
    this.#members.add(member)
    const publish = async (event: ChangeEvent) => {
      if (node.process.isDead) return
      events.tell(event)
      this.#send(member, (other) => other.events.tell(event))
    }
    return {
      isConnected: true,
      publish,
      subscribe: (listener) => events.add(listener),
      async send (message) { messages.tell(message) },
      listen: (listener) => messages.add(listener),
      time: async () => this.#world.now,
      close: async () => {
        this.#members.delete(member)
        events.close()
        messages.close()
      }
    }
  }

  #send (sender: Member, tell: (other: Member) => void): void {
    for (const other of this.#members) {
      if (other === sender || other.process.isDead) continue
      const isCut = Math.max(sender.cutUntil, other.cutUntil) > this.#world.now
      const times = isCut || this.#random.chance(this.rates.lost)
        ? 0
        : this.#random.chance(this.rates.twice) ? 2 : 1
      if (times === 0) this.#tellOfLoss(sender, other)
      for (let time = 0; time < times; time++) {
        this.#world.schedule(other.process, this.#random.below(MAX_DELAY_MS), () => tell(other))
      }
    }
  }

  #tellOfLoss (sender: Member, other: Member): void {
    const reachableAt = Math.max(sender.cutUntil, other.cutUntil, this.#world.now)
    const inMs = reachableAt - this.#world.now + this.#random.below(MAX_UNNOTICED_MS)
    this.#world.schedule(other.process, inMs, () => other.events.tell({ type: 'events-missed' }))
  }
}
