// Gathers what is asked for in one turn of the event loop: a statement for many keys costs about as much as
// one for a single key.

/** Who waits for an answer. */
export interface Waiter<Answer> {
  resolve (answer: Answer): void
  reject (error: unknown): void
}

/** The most items of one statement. */
const MAX_ITEMS = 100

/** @param run takes the items of a turn, in parts. It must not throw. */
export function gatherTurns<Item> (run: (items: readonly Item[]) => void): (item: Item) => void {
  let items: Item[] = []

  function runAll (): void {
    const all = items
    items = []
    for (let start = 0; start < all.length; start += MAX_ITEMS) run(all.slice(start, start + MAX_ITEMS))
  }

  return (item) => {
    if (items.push(item) === 1) setImmediate(runAll)
  }
}

/**
 * Runs the items in their order, one statement after the other: those that come meanwhile share the next one.
 *
 * @param run answers the items. If it rejects, all of them do.
 */
export function gatherInOrder<Item extends Pick<Waiter<never>, 'reject'>> (
  run: (items: readonly Item[]) => Promise<void>
): (item: Item) => void {
  const items: Item[] = []
  let isRunning = false

  async function runAll (): Promise<void> {
    while (items.length > 0) {
      const some = items.splice(0, MAX_ITEMS)
      try {
        await run(some)
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
    isRunning = false
  }

  return (item) => {
    items.push(item)
    if (isRunning) return
    isRunning = true
    setImmediate(runAll)
  }
}
