// A burst of large requests never fills the memory, whenever the timer measures between them.

import t from 'tap'
import { MemoryShare } from '../../../src/features/overload/memory-share.ts'

/** A memory in percent. Each request that is served keeps a part of it until it ends. */
class Memory {
  used: number
  served = 0
  readonly share: MemoryShare
  readonly #each: number

  constructor (used: number, each: number) {
    this.used = used
    this.#each = each
    this.share = new MemoryShare(() => this.used / 100)
  }

  /** Returns how many of the requests began. */
  begin (count: number): number {
    let begun = 0
    for (let request = 0; request < count; request++) {
      if (this.share.mustRefuse(this.served + 1)) continue
      this.served++
      this.used += this.#each
      begun++
    }
    return begun
  }

  end (count: number): void {
    this.served -= count
    this.used -= count * this.#each
  }

  measure (): void { this.share.update(this.served) }
}

t.test('a burst stops at the limit, wherever the timer measures in it', async (t) => {
  for (let before = 0; before < 30; before++) {
    const memory = new Memory(9, 2.6)
    memory.begin(before)
    memory.measure()
    memory.begin(200)
    for (let turn = 0; turn < 20; turn++) {
      memory.measure()
      memory.begin(200)
    }
    t.ok(memory.used > 75 && memory.used < 93, `${memory.used} % after a measurement at ${before}`)
  }
})

t.test('requests that take the place of ended ones are measured too', async (t) => {
  const memory = new Memory(9, 2.6)
  memory.begin(20)
  memory.measure()
  // They end, and what they held is not free yet.
  memory.served -= 15
  memory.begin(200)
  t.ok(memory.used < 93, `${memory.used} %`)
})

t.test('what shrinks serves all again, and what stays full a share of small requests', async (t) => {
  const memory = new Memory(40, 10)
  memory.begin(200)
  t.ok(memory.used > 80 && memory.used < 130, `${memory.used} %`)
  memory.end(memory.served)
  memory.measure()
  t.equal(memory.begin(1), 1)
  // Its large requests ended, and what they held is not free yet.
  const held = new Memory(40, 6)
  held.begin(200)
  held.served = 0
  held.measure()
  t.equal(held.begin(10), 1, 'one request after each measurement corrects the forecast')
  const full = new Memory(84, 0)
  full.begin(8)
  for (let turn = 0; turn < 30; turn++) full.measure()
  const begun = full.begin(100)
  t.ok(begun > 50 && begun < 80, `${begun} of 100 at 84 %`)
})
