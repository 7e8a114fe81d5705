// Ordinary calls: entries that are added to handles, and calls that are repeated under one key.

import type { StormClient } from './storm-client.ts'

export class EntryLedger {
  readonly #client: StormClient
  /** The entries that were acknowledged, by handle. */
  readonly #added = new Map<string, string[]>()

  constructor (client: StormClient) {
    this.#client = client
  }

  get count (): number { return [...this.#added.values()].flat().length }

  /** Adds to one of three handles, which the first calls open. */
  async add (name: string, number: number): Promise<void> {
    const id = [...this.#added.keys()][number % 3] ??
      (await this.#client.insist('open', {})).structuredContent.id
    if (!this.#added.has(id)) this.#added.set(id, [])
    await this.#client.insist('add', { id, entry: name })
    this.#added.get(id)?.push(name)
  }

  /** Resolves to the entries that were acknowledged, and are not in their handle once. */
  async findLost (): Promise<readonly string[]> {
    const lost = await Promise.all([...this.#added].map(async ([id, added]) => {
      const { structuredContent: { entries } } = await this.#client.insist('show', { id })
      return added.filter((entry) => entries.filter((one: string) => one === entry).length !== 1)
    }))
    return lost.flat()
  }
}

/** How long the first answer of a call is kept, in milliseconds. */
const KEPT_MS = 60_000

export class KeyLedger {
  readonly #client: StormClient
  /** The answers of the calls under one key. */
  readonly #answers = new Map<string, Set<string>>()

  constructor (client: StormClient) {
    this.#client = client
  }

  get count (): number { return this.#answers.size }

  /** The keys with several answers. */
  get replaced (): readonly string[] {
    return [...this.#answers].filter(([, { size }]) => size > 1).map(([key]) => key)
  }

  /** Calls twice at once, and a third time. An answer that comes too late may be that of another run. */
  async call (key: string): Promise<void> {
    const values = new Set<string>()
    this.#answers.set(key, values)
    const begunAt = performance.now()
    const order = async () => {
      const headers = { 'idempotency-key': key }
      const { structuredContent } = await this.#client.insist('order', { item: key }, headers)
      if (performance.now() - begunAt < KEPT_MS) values.add(structuredContent.order)
    }
    await Promise.all([order(), order()])
    await order()
  }
}
