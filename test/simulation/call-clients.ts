// What clients do with handles, and with calls that they may repeat.

import { ANONYMOUS } from '../../src/platform/access/principal.ts'
import type { Sender } from './cluster.ts'
import type { CommandParts } from './command-parts.ts'
import type { Ledger } from './models/calls.ts'
import type { Command, RIGHTS } from './plan.ts'
import { MAX_HANDLES } from './replica.ts'
import { senderOf, withRight } from './senders.ts'
import { contentOf, type Sending } from './sending.ts'

/** More than one owner may have handles. */
const CROWD = MAX_HANDLES + 2
/** The answer of a handle that is unknown. */
const NO_HANDLE = /There is no ledger/

export class CallClients {
  readonly #parts: CommandParts
  readonly #sending: Sending
  #orders = 0
  #hasCrowd = false

  constructor (parts: CommandParts, sending: Sending) {
    this.#parts = parts
    this.#sending = sending
  }

  async add (ledger: Ledger, replica: number): Promise<void> {
    const entry = this.#parts.ledgers.nextEntry(ledger)
    const reply = await this.#sending.call(replica, ledger.sender, 'add', { id: ledger.id, entry })
    if (contentOf(reply) !== undefined) ledger.entries.add(entry)
  }

  async drop (ledger: Ledger, replica: number): Promise<void> {
    const { ledgers } = this.#parts
    ledgers.beginDrop(ledger)
    const reply = await this.#sending.call(replica, ledger.sender, 'drop', { id: ledger.id })
    if (contentOf(reply) !== undefined) ledger.drop = 'acknowledged'
  }

  async show (ledger: Ledger, right: typeof RIGHTS[number], replica: number): Promise<void> {
    const { ledgers, world } = this.#parts
    const check = ledgers.expect(ledger)
    const sender = withRight(ledger.sender, right)
    const reply = await this.#sending.call(replica, sender, 'show', { id: ledger.id })
    const entries = contentOf(reply)?.entries
    const isUnknown = NO_HANDLE.test(JSON.stringify(reply))
    if (right !== 'stranger') {
      if (Array.isArray(entries)) check(entries.map(String))
      else if (isUnknown) check(undefined)
    } else if (entries !== undefined && ledger.sender.address === undefined) {
      world.fail(`a stranger has read ${ledger.id}`)
    }
  }

  /** Notes that many networks are to create handles in the calm. */
  crowd (): void { this.#hasCrowd = true }

  /**
   * Many networks create a handle each: more than their common owner may have. Those that were refused try
   * again once others have deleted theirs.
   */
  async meetCrowd (): Promise<void> {
    if (!this.#hasCrowd) return
    const open = async (sender: Sender): Promise<'refused' | undefined> => {
      const reply = await this.#sending.call(0, sender, 'open', {})
      const text = JSON.stringify(reply)
      if (/Too many \w+ of your address/.test(text)) {
        this.#parts.world.fail(`${String(sender.address)} has no handle, and is refused: ${text}`)
      }
      const id = contentOf(reply)?.id
      if (typeof id === 'string') await this.#sending.call(0, sender, 'drop', { id })
      return /Too many/.test(text) ? 'refused' : undefined
    }
    const senders = Array.from({ length: CROWD }, (_, index) => ({
      principal: ANONYMOUS, address: `10.0.1.${index + 1}`
    }))
    const outcomes = await Promise.all(senders.map(open))
    for (const [index, sender] of senders.entries()) if (outcomes[index] === 'refused') await open(sender)
  }

  async order (
    { who, copies, hasKey, isHasty = false, replica, ms, fails, apartMs = ms }: Command & { do: 'order' }
  ): Promise<void> {
    const { cluster, orders } = this.#parts
    const number = this.#orders++
    const [key, caller] = hasKey
      ? [`${isHasty ? 'hasty' : 'key'}-${number}`, `caller-${who}`]
      : ['free', 'all']
    const headers: { [name: string]: string } = hasKey ? { 'idempotency-key': key } : {}
    const id = hasKey ? `order-${number}` : 'same'
    const args = { key, caller, ms, fails: fails && hasKey }
    const params = { name: isHasty ? 'hasty' : 'order', arguments: args }
    await Promise.all(Array.from({ length: copies }, async (_, copy) => {
      const send = async (index: number) => (
        await cluster.send(index, senderOf(who), 'tools/call', params, { headers, id })
      )
      if (copy > 0) await this.#sending.pause(copy * apartMs)
      const reply = hasKey && copy > 0 ? await this.#sending.insist(send) : await send(replica + copy)
      const value = contentOf(reply)?.value
      if (value !== undefined) orders.see(key, caller, String(value))
    }))
  }
}
