// The contract of all due times. A new backend is done when its due times pass.

import type { Test } from 'tap'
import type { DueEntry, DueTimes } from '../../src/platform/store/records/due-times.ts'

interface CheckedDueTimes {
  readonly dueTimes: DueTimes
  /** Lets this time pass. */
  pass (ms: number): Promise<void> | void
  /** The same due times, as another replica opens them. Absent if they exist in one process only. */
  reopen? (): Promise<DueTimes>
}

/** Reads all pages of the list. */
async function listAll (dueTimes: DueTimes, limit: number, between = async () => {}) {
  const entries: DueEntry[] = []
  let pages = 0
  for (let from: string | undefined; ;) {
    const page = await dueTimes.list(from, limit)
    pages++
    entries.push(...page.entries)
    if (page.next === undefined) return { entries, pages }
    from = page.next
    await between()
  }
}

/**
 * @param open opens due times without entries for each test.
 * @param unitMs with a real clock it must be long enough for a few operations.
 */
export function checkDueTimes (t: Test, open: (t: Test) => Promise<CheckedDueTimes>, unitMs = 150): void {
  const HOLD_MS = 1000 * unitMs

  t.test('without entries nothing is due', async (t) => {
    const { dueTimes } = await open(t)
    t.match(await dueTimes.take(10, HOLD_MS), { entries: [], nextInMs: undefined })
  })

  t.test('an entry is due at its time, and not before', async (t) => {
    const { dueTimes, pass } = await open(t)
    await dueTimes.set('a/1', 2 * unitMs, 0)
    const early = await dueTimes.take(10, HOLD_MS)
    t.strictSame(early.entries, [])
    t.ok((early.nextInMs ?? 0) > unitMs && (early.nextInMs ?? 0) <= 2 * unitMs, `in ${early.nextInMs} ms`)
    await pass(2 * unitMs + 1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['a/1'])
  })

  t.test('the entry that was due first is taken first', async (t) => {
    const { dueTimes, pass } = await open(t)
    for (const [entry, units] of [['late', 3], ['now', 0], ['soon', 1]] as const) {
      await dueTimes.set(entry, units * unitMs, 0)
    }
    await pass(3 * unitMs + 1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['now', 'soon', 'late'])
  })

  t.test('an entry has one time: the last one', async (t) => {
    const { dueTimes, pass } = await open(t)
    await dueTimes.set('later', 0, 0)
    await dueTimes.set('later', HOLD_MS, 0)
    await dueTimes.set('sooner', HOLD_MS, 0)
    await dueTimes.set('sooner', 0, 0)
    await pass(1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['sooner'])
  })

  t.test('an earlier generation does not change the time of a later one', async (t) => {
    const { dueTimes, pass } = await open(t)
    await dueTimes.set('a', 0, 2)
    await dueTimes.set('a', HOLD_MS, 1)
    await pass(1)
    t.strictSame((await dueTimes.take(10, 2 * unitMs)).entries, ['a'])
    await dueTimes.set('a', HOLD_MS, 1)
    await pass(2 * unitMs + 1)
    t.strictSame((await dueTimes.take(10, 2 * unitMs)).entries, ['a'], 'it is due after it was held')
    await dueTimes.set('a', 0, 1)
    await pass(1)
    t.strictSame((await dueTimes.take(10, 2 * unitMs)).entries, ['a'], 'it may make it sooner')
    await dueTimes.set('a', 0, 1, HOLD_MS)
    await pass(1)
    t.strictSame((await dueTimes.take(10, 2 * unitMs)).entries, [], 'and not sooner than a lease')
    await dueTimes.set('a', HOLD_MS, 2)
    await dueTimes.set('a', 0, 1, 2 * unitMs)
    await pass(2 * unitMs + 1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['a'], 'a lease is sooner')
    await dueTimes.set('a', HOLD_MS, 2)
    await pass(2 * unitMs + 1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, [], 'the same generation moves it')
    await dueTimes.remove('a')
    await dueTimes.set('a', 0, 0)
    await pass(1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['a'], 'a removed entry has no generation')
  })

  t.test('every answer has the time of the store', async (t) => {
    const { dueTimes, pass } = await open(t)
    const first = await dueTimes.set('a', HOLD_MS, 0)
    t.ok(first > 1_700_000_000_000 && Number.isSafeInteger(first), `${first}`)
    await pass(unitMs)
    const { now } = await dueTimes.take(1, HOLD_MS)
    t.ok(now >= first + unitMs && now < first + 60_000, `${now - first} ms later`)
  })

  t.test('a removed entry is never due, and removing an unknown one does nothing', async (t) => {
    const { dueTimes, pass } = await open(t)
    await dueTimes.set('gone', 0, 0)
    await dueTimes.remove('gone')
    await dueTimes.remove('unknown')
    await pass(1)
    t.match(await dueTimes.take(10, HOLD_MS), { entries: [], nextInMs: undefined })
  })

  t.test('no more are taken than asked for, and the next one is due at once', async (t) => {
    const { dueTimes, pass } = await open(t)
    for (let i = 0; i < 5; i++) await dueTimes.set(`n${i}`, 0, 0)
    await pass(1)
    const first = await dueTimes.take(3, HOLD_MS)
    t.equal(first.entries.length, 3)
    t.equal(first.nextInMs, 0)
    t.equal((await dueTimes.take(3, HOLD_MS)).entries.length, 2)
  })

  t.test('a taken entry is due again after it was held', async (t) => {
    const { dueTimes, pass } = await open(t)
    await dueTimes.set('a', 0, 0)
    await pass(1)
    t.strictSame((await dueTimes.take(10, 2 * unitMs)).entries, ['a'])
    t.strictSame((await dueTimes.take(10, 2 * unitMs)).entries, [])
    await pass(2 * unitMs + 1)
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['a'])
  })

  t.test('of many that take at once each entry is taken by one', async (t) => {
    const { dueTimes, pass, reopen } = await open(t)
    const all = Array.from({ length: 60 }, (_, index) => `entry-${index}`)
    await Promise.all(all.map(async (entry) => await dueTimes.set(entry, 0, 0)))
    await pass(1)
    const takers = [dueTimes, await reopen?.() ?? dueTimes]
    const taken = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => await takers[index % 2]?.take(2, HOLD_MS))
    )
    t.strictSame(taken.flatMap((one) => one?.entries ?? []).toSorted(), all.toSorted())
  })

  t.test('entries are told apart by every character', async (t) => {
    const { dueTimes, pass } = await open(t)
    const entries = ['a', 'A', 'a ', 'a/b', 'a:b', 'entry', 'time', 'tasks-x/task_0-_A']
    for (const entry of entries) await dueTimes.set(entry, 0, 0)
    await dueTimes.remove('A')
    await pass(1)
    const { entries: taken } = await dueTimes.take(20, HOLD_MS)
    t.strictSame(taken.toSorted(), entries.filter((entry) => entry !== 'A').toSorted())
  })

  t.test('peeking shows what is due first, and takes nothing', async (t) => {
    const { dueTimes, pass } = await open(t)
    t.strictSame(await dueTimes.peek(10, HOLD_MS), [])
    await dueTimes.set('late', 60 * unitMs, 3)
    await dueTimes.set('now', 0, 0)
    await dueTimes.set('soon', unitMs, 2)
    await pass(2 * unitMs)
    const entries = await dueTimes.peek(10, 100 * unitMs)
    t.strictSame(entries.map(({ entry }) => entry), ['now', 'soon', 'late'])
    t.strictSame(entries.map(({ generation }) => generation), [0, 2, 3])
    const [now = 0, soon = 0, late = 0] = entries.map(({ inMs }) => inMs)
    t.ok(now <= -2 * unitMs && soon <= -unitMs && soon > now, `${now}, ${soon}`)
    t.ok(late > 50 * unitMs && late <= 58 * unitMs, `${late}`)
    t.strictSame((await dueTimes.peek(2, HOLD_MS)).map(({ entry }) => entry), ['now', 'soon'])
    t.strictSame((await dueTimes.peek(9, unitMs)).map(({ entry }) => entry), ['now', 'soon'])
    t.strictSame((await dueTimes.take(10, HOLD_MS)).entries, ['now', 'soon'])
  })

  t.test('the pages of the list have all entries, whatever their times', async (t) => {
    const { dueTimes } = await open(t)
    t.match(await dueTimes.list(undefined, 10), { entries: [], next: undefined })
    const all = Array.from({ length: 1000 }, (_, index) => `owner-${index % 7}/task-${index}`)
    await Promise.all(all.map(async (entry, index) => await dueTimes.set(entry, index * unitMs, index)))
    const { entries, pages } = await listAll(dueTimes, 100)
    t.strictSame([...new Set(entries.map(({ entry }) => entry))].toSorted(), all.toSorted())
    t.ok(pages >= 3 && pages <= 20, `${pages} pages`)
    const last = entries.find(({ entry }) => entry === all[999])
    t.equal(last?.generation, 999)
    t.ok((last?.inMs ?? 0) > 900 * unitMs)
    await t.rejects(dueTimes.list('nonsense', 10), RangeError)
  })

  t.test('an entry whose time changes during the listing is listed', async (t) => {
    const { dueTimes } = await open(t)
    const all = Array.from({ length: 500 }, (_, index) => `task-${String(index).padStart(3, '0')}`)
    await Promise.all(all.map(async (entry) => await dueTimes.set(entry, HOLD_MS, 0)))
    let moved = 0
    const { entries } = await listAll(dueTimes, 20, async () => {
      await dueTimes.set(all[499 - moved] ?? '', 0, 1)
      await dueTimes.set(all[moved] ?? '', 2 * HOLD_MS, 1)
      await dueTimes.remove(`gone-${moved}`)
      await dueTimes.set(`gone-${++moved}`, 0, 0)
    })
    const names = new Set(entries.map(({ entry }) => entry))
    t.strictSame(all.filter((entry) => !names.has(entry)), [])
    t.ok(moved > 5)
  })
}

/** @param openLost opens due times whose store is gone. */
export function checkLostDueTimes (t: Test, openLost: (t: Test) => Promise<DueTimes>): void {
  t.test('without the store every method rejects with a StoreUnavailable', async (t) => {
    const dueTimes = await openLost(t)
    const unavailable = { name: 'StoreUnavailable' }
    await t.rejects(dueTimes.set('a', 0, 0), unavailable)
    await t.rejects(dueTimes.remove('a'), unavailable)
    await t.rejects(dueTimes.take(1, 1000), unavailable)
    await t.rejects(dueTimes.peek(1, 0), unavailable)
    await t.rejects(dueTimes.list(undefined, 1), unavailable)
    await t.rejects(dueTimes.list('x', 1), { name: 'RangeError' })
  })
}
