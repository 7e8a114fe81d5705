// A store answers random operations like a simple model of a store.

import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openLmdbStateStore } from '../../../../src/platform/store/backends/lmdb/state-store.ts'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import type { StateRecord, StateStore } from '../../../../src/platform/store/records/state-store.ts'
import { makeFolder } from '../../../helpers/folder.ts'
import { textOf, toValue } from '../../../helpers/state-value.ts'

interface Place { readonly owner: string, readonly name: string }

interface Creation {
  readonly does: 'create'
  readonly value: string
  readonly limit: number
  readonly idleMs: number
  readonly lasts: number
}

type Step = Place & (
  | Creation
  | { readonly does: 'confirm', readonly back: number }
  | {
    readonly does: 'replace'
    readonly value: string
    readonly back: number
    readonly newIdleMs: number | undefined
  }
  | { readonly does: 'read' | 'peek' | 'delete' }
  | { readonly does: 'wait', readonly ms: number }
)

/** A record with text instead of bytes. The version is the number of earlier versions of the name. */
type Answer = string | boolean | undefined | AnsweredRecord

interface AnsweredRecord { readonly value: string, readonly version: number, readonly expiresAt: number }

interface Subject { do (step: Step, now: number): Promise<Answer> }

interface Modelled {
  value: string
  version: number
  expiresAt: number
  idleMs: number
  endsAt: number
}

function createModel (): Subject {
  const records = new Map<string, Modelled>()
  const versions = new Map<string, number>()
  const next = (place: string) => versions.set(place, (versions.get(place) ?? 0) + 1).get(place) ?? 0
  const toAnswer = ({ value, version, expiresAt }: Modelled): Answer => ({ value, version, expiresAt })
  return {
    async do (step, now) {
      for (const [place, { expiresAt }] of records) if (expiresAt <= now) records.delete(place)
      const place = `${step.owner} ${step.name}`
      const record = records.get(place)
      const use = (record: Modelled) => {
        record.expiresAt = Math.min(now + record.idleMs, record.endsAt)
        return toAnswer(record)
      }
      switch (step.does) {
        case 'create': {
          if (record !== undefined) return 'taken'
          const owned = [...records.keys()].filter((other) => other.startsWith(`${step.owner} `))
          if (owned.length >= step.limit) return 'full'
          const { value, idleMs, lasts } = step
          const made = { value, version: next(place), expiresAt: 0, idleMs, endsAt: now + lasts }
          records.set(place, made)
          return use(made)
        }
        case 'replace':
          if (record?.version !== (versions.get(place) ?? 0) - step.back) return undefined
          record.value = step.value
          record.version = next(place)
          if (step.newIdleMs !== undefined) {
            record.idleMs = step.newIdleMs
            record.endsAt = Infinity
          }
          return use(record)
        case 'confirm': return record?.version === (versions.get(place) ?? 0) - step.back
        case 'read': return record === undefined ? undefined : use(record)
        case 'peek': return record === undefined ? undefined : toAnswer(record)
        case 'delete': return records.delete(place)
        case 'wait': return undefined
      }
    }
  }
}

/** @param run separates the owners of this run from those of other runs. */
function toSubject (store: StateStore, run: number): Subject {
  const versions = new Map<string, string[]>()
  return {
    async do (step, now) {
      const key = { owner: `${run}-${step.owner}`, name: step.name }
      const known = versions.get(`${step.owner} ${step.name}`) ?? []
      versions.set(`${step.owner} ${step.name}`, known)
      const toAnswer = (result: StateRecord | string | undefined): Answer => {
        if (typeof result !== 'object') return result
        if (!known.includes(result.version)) known.push(result.version)
        const version = known.indexOf(result.version) + 1
        return { value: textOf(result) ?? '', version, expiresAt: result.expiresAt }
      }
      switch (step.does) {
        case 'create': {
          const lifetime = { idleMs: step.idleMs, endsAt: now + step.lasts }
          return toAnswer(await store.create(key, toValue(step.value), lifetime, step.limit))
        }
        case 'replace': {
          const version = known.at(-1 - step.back) ?? 'none'
          const lifetime = step.newIdleMs === undefined ? undefined : { idleMs: step.newIdleMs }
          return toAnswer(await store.replace(key, version, toValue(step.value), lifetime))
        }
        case 'confirm': return await store.confirm(key, known.at(-1 - step.back) ?? 'none')
        case 'read': return toAnswer(await store.read(key))
        case 'peek': return toAnswer(await store.peek(key))
        case 'delete': return await store.delete(key)
        case 'wait': return undefined
      }
    }
  }
}

const place = { owner: fc.constantFrom('a', 'b'), name: fc.constantFrom('x', 'y', 'z') }
const value = fc.string({ maxLength: 8 })
const LOOKS = ['read', 'peek', 'delete'] as const
// Lifetimes and waits are chosen so that records often expire in the millisecond of an operation.
const ms = fc.constantFrom(10, 40, 50, 90, 100, 300)
const creation = fc.record({
  ...place,
  does: fc.constant('create' as const),
  value,
  limit: fc.integer({ min: 0, max: 3 }),
  idleMs: fc.constantFrom(50, 100, 200),
  lasts: fc.constantFrom(100, 250, 1e6, Infinity)
})
const replacement = fc.record({
  ...place,
  does: fc.constant('replace' as const),
  value,
  back: fc.constantFrom(0, 0, 0, 1, 2),
  newIdleMs: fc.constantFrom(undefined, undefined, 10, 300)
})
const confirmation = fc.record({
  ...place, does: fc.constant('confirm' as const), back: fc.constantFrom(0, 0, 1)
})
const steps = fc.array(fc.oneof(
  { arbitrary: creation, weight: 4 },
  { arbitrary: replacement, weight: 3 },
  { arbitrary: confirmation, weight: 1 },
  { arbitrary: fc.record({ ...place, does: fc.constantFrom(...LOOKS) }), weight: 3 },
  { arbitrary: fc.record({ ...place, does: fc.constant('wait' as const), ms }), weight: 3 }
), { minLength: 5, maxLength: 60 })

async function agrees (t: Test, open: (now: () => number) => StateStore, numRuns: number): Promise<void> {
  let time = 1_800_000_000_000
  let run = 0
  const store = open(() => time)
  t.teardown(async () => await store.close())
  const seen = new Set<string>()
  await fc.assert(fc.asyncProperty(steps, async (steps) => {
    const model = createModel()
    const subject = toSubject(store, ++run)
    for (const [index, step] of steps.entries()) {
      if (step.does === 'wait') {
        time += step.ms
        // Lets the sweep run. It must not change any answer.
        await turn()
      }
      const expected = await model.do(step, time)
      seen.add(`${step.does}: ${typeof expected === 'object' ? 'a record' : String(expected)}`)
      const actual = await subject.do(step, time)
      const [wanted, got] = [JSON.stringify(expected), JSON.stringify(actual)]
      if (got !== wanted) throw new Error(`step ${index}, ${step.does}: expected ${wanted}, got ${got}`)
    }
  }), { numRuns })
  t.strictSame([...seen].toSorted(), [
    'confirm: false', 'confirm: true',
    'create: a record', 'create: full', 'create: taken', 'delete: false', 'delete: true',
    'peek: a record', 'peek: undefined', 'read: a record', 'read: undefined',
    'replace: a record', 'replace: undefined', 'wait: undefined'
  ], 'and every answer was given')
}

t.test('the memory store', async (t) => {
  await agrees(t, (now) => createMemoryStateStore({ now, sweepMs: 1 }), 1000)
})

t.test('the LMDB store', async (t) => {
  const folder = await makeFolder(t)
  await agrees(t, (now) => openLmdbStateStore(folder, { now, sweepMs: 1 }), 150)
})
