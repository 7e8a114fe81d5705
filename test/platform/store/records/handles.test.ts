import t, { type Test } from 'tap'
import { ANONYMOUS, type Principal } from '../../../../src/platform/access/principal.ts'
import { isHandleError } from '../../../../src/platform/author/handles.ts'
import { isToolError } from '../../../../src/platform/author/tool-error.ts'
import { quote } from '../../../../src/base/words.ts'
import { createSchemaCompiler } from '../../../../src/platform/schema/json-schema.ts'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import type { HandleKind } from '../../../../src/platform/store/records/handle-kind.ts'
import { createHandles, type HandleAccess } from '../../../../src/platform/store/records/handles.ts'
import { StoreUnavailable, type StateStore } from '../../../../src/platform/store/records/state-store.ts'
import { until } from '../../../helpers/deadline.ts'

const HOUR_MS = 3_600_000

const counterSchema = {
  type: 'object',
  properties: { count: { type: 'integer' }, note: { type: 'string' }, tags: { type: 'array', default: [] } },
  required: ['count']
}

const kindOf = (changes: Partial<HandleKind> = {}): HandleKind => ({
  kind: 'counter',
  prefix: 'cnt',
  idleTtlMs: HOUR_MS,
  maxAgeMs: undefined,
  maxBytes: 1000,
  createdBy: 'create_counter',
  checkValue: createSchemaCompiler({ useDefaults: true }).compile(counterSchema),
  mayChangeValue: true,
  ...changes
})

const person = (subject: string, clientId = 'app'): Principal => ({ subject, clientId, scopes: new Set() })

interface Bench { readonly access: HandleAccess, readonly store: StateStore, advance (ms: number): void }

function open (t: Test, maxPerOwner = 10): Bench {
  let time = Date.UTC(2026, 0, 1)
  const now = () => time
  const store = createMemoryStateStore({ now })
  t.teardown(async () => await store.close())
  return { store, access: createHandles(store, { maxPerOwner, now }), advance: (ms) => { time += ms } }
}

const never = new AbortController().signal
const of = (access: HandleAccess, principal: Principal = ANONYMOUS, kind = kindOf()) => access.open(
  kind, { principal }, () => never
)

/** The change of a draft, with the type of the test. */
const count = (draft: unknown): { count: number, note?: string } => draft as { count: number, note?: string }

t.test('an id is its prefix and 128 random bits', async (t) => {
  const { access } = open(t, 100)
  const made = await Promise.all(
    Array.from({ length: 50 }, async () => await of(access).create({ count: 0 }))
  )
  t.equal(new Set(made.map(({ id }) => id)).size, 50)
  for (const { id } of made) t.match(id, /^cnt_[A-Za-z0-9_-]{22}$/)
})

t.test('a value is created, read, changed and deleted as a JSON value', async (t) => {
  const { access } = open(t)
  const handles = of(access)
  const { id, value, expiresAt } = await handles.create({ count: 1, note: undefined })
  t.strictSame(value, { count: 1, tags: [] }, 'with its defaults')
  t.equal(expiresAt, '2026-01-01T01:00:00.000Z')
  t.strictSame(await handles.update(id, (draft) => { count(draft).count++ }), { count: 2, tags: [] })
  t.strictSame(
    await handles.update(id, async () => ({ count: 10 })), { count: 10, tags: [] },
    'a returned value takes its place'
  )
  t.strictSame(await handles.read(id), { count: 10, tags: [] })
  await handles.delete(id)
  await t.rejects(handles.read(id), { name: 'HandleError' })
})

t.test('a value of another release is migrated when it is read, or refused', async (t) => {
  const { access } = open(t)
  const { compile } = createSchemaCompiler({ useDefaults: true })
  const earlier = of(access, ANONYMOUS, kindOf({ checkValue: compile({ type: 'object' }) }))
  const { checkValue } = kindOf()
  const { id } = await earlier.create({ total: 3 })
  const { id: broken } = await earlier.create({ total: 'three' })
  const strict = of(access, ANONYMOUS, kindOf({ checkKept: checkValue }))
  for (const use of [strict.read(id), strict.update(id, () => undefined)]) {
    const error: unknown = await use.catch((error: unknown) => error)
    if (!isToolError(error)) throw new Error('is no tool error', { cause: error })
    t.equal(error.message, 'This counter was made by another release and cannot be read. Make a new one.')
    t.match(error.cause, { message: /kept value of a counter .* count: is required, but missing; .*migrate/ })
  }
  const migrate = (old: unknown) => ({ count: (old as { total: number }).total })
  const migrating = of(access, ANONYMOUS, kindOf({ checkKept: checkValue, migrate }))
  t.strictSame(await migrating.read(id), { count: 3, tags: [] })
  await t.rejects(migrating.read(broken), /counter does not match its schema: count: must be integer/)
  t.strictSame(await earlier.read(id), { total: 3 }, 'a read writes nothing')
  t.strictSame(await migrating.update(id, (draft) => { count(draft).count++ }), { count: 4, tags: [] })
  t.strictSame(await earlier.read(id), { count: 4, tags: [] }, 'an update writes the migrated value')
  t.strictSame(await strict.read(id), { count: 4, tags: [] })
})

t.test('a value that does not match its schema is an author\'s error and is not stored', async (t) => {
  const { access } = open(t)
  const handles = of(access)
  for (const value of [{}, { count: 'one' }, { count: NaN }, undefined, () => {}]) {
    const error = await handles.create(value).then(() => undefined, (error: unknown) => error)
    t.ok(error instanceof Error && !isToolError(error), String(error))
  }
  await t.rejects(
    handles.create({ count: 1, tags: [new Map()] }), /value of a counter is not JSON: \/tags\/0: a Map has no/
  )
  const { id } = await handles.create({ count: 1 })
  await t.rejects(handles.update(id, () => ({ count: 'two' })), /counter does not match its schema: .*count/)
  t.strictSame(await handles.read(id), { count: 1, tags: [] })
})

t.test('a change that throws stores nothing', async (t) => {
  const { access } = open(t)
  const handles = of(access)
  const { id } = await handles.create({ count: 1 })
  await t.rejects(handles.update(id, (draft) => {
    count(draft).count = 9
    throw new Error('no')
  }), { message: 'no' })
  t.strictSame(await handles.read(id), { count: 1, tags: [] })
})

t.test('a value that is too large is a tool error and is not stored', async (t) => {
  const { access } = open(t)
  const handles = of(access)
  await t.rejects(handles.create({ count: 1, note: 'é'.repeat(500) }), {
    name: 'Error', message: /too large: 10\d\d bytes, the limit is 1000/
  })
  const { id } = await handles.create({ count: 1 })
  const error = await handles.update(id, (draft) => { count(draft).note = 'x'.repeat(1000) }).then(
    () => undefined, (error: unknown) => error
  )
  t.ok(isToolError(error) && !isHandleError(error))
  t.strictSame(await handles.read(id), { count: 1, tags: [] })
})

t.test('a use extends the idle lifetime, but not the absolute one', async (t) => {
  const { access, advance } = open(t)
  const handles = of(access, ANONYMOUS, kindOf({ maxAgeMs: 3 * HOUR_MS }))
  const [idle, used] = [await handles.create({ count: 0 }), await handles.create({ count: 0 })]
  for (let i = 0; i < 3; i++) {
    advance(HOUR_MS * 0.9)
    if (i % 2 === 0) await handles.read(used.id)
    else await handles.update(used.id, (draft) => { count(draft).count++ })
  }
  await t.rejects(handles.read(idle.id), { name: 'HandleError' })
  advance(HOUR_MS * 0.4)
  await t.rejects(handles.read(used.id), { name: 'HandleError' })
})

t.test('unknown, expired, deleted, malformed, of another kind and somebody else\'s are one and the same ' +
  'answer', async (t) => {
  const { access, advance } = open(t)
  const [mine, theirs] = [of(access, person('me')), of(access, person('them'))]
  const expired = await mine.create({ count: 0 })
  advance(HOUR_MS)
  const deleted = await mine.create({ count: 0 })
  await mine.delete(deleted.id)
  const foreign = await theirs.create({ count: 7 })
  const other = await of(access, person('me'), kindOf({ kind: 'meter', prefix: 'mtr' })).create({ count: 0 })
  const sameLook = await of(access, person('me'), kindOf({ kind: 'tally' })).create({ count: 0 })
  const unknown = 'cnt_AAAAAAAAAAAAAAAAAAAAAA'
  for (const id of [
    unknown, expired.id, deleted.id, foreign.id, other.id, sameLook.id, '', 'cnt_', 'cnt_../../etc',
    `${foreign.id}\0`, `cnt_${'x'.repeat(10_000)}`
  ]) {
    for (const act of [
      () => mine.read(id), () => mine.update(id, (draft) => { count(draft).count = 0 }), () => mine.delete(id)
    ]) {
      const error = await act().then(() => undefined, (error: unknown) => error)
      t.ok(isHandleError(error) && isToolError(error), id.slice(0, 40))
      const shown = quote(id, 64)
      t.equal(
        error instanceof Error ? error.message : '',
        `There is no counter ${shown}. It may have expired; create_counter makes a new one.`
      )
    }
  }
  t.strictSame(await theirs.read(foreign.id), { count: 7, tags: [] }, 'and whoever owns it still has it')
})

t.test('the owner is the subject and the client, without scopes; anonymous callers share', async (t) => {
  const { access } = open(t)
  const { id } = await of(access, person('ada')).create({ count: 1 })
  const withScopes: Principal = { subject: 'ada', clientId: 'app', scopes: new Set(['more']) }
  t.strictSame(await of(access, withScopes).read(id), { count: 1, tags: [] })
  for (const stranger of [
    person('ada', 'other-app'), person('bob'), ANONYMOUS, { scopes: new Set<string>(), clientId: 'app' },
    person('app', 'ada')
  ]) {
    await t.rejects(of(access, stranger).read(id), { name: 'HandleError' })
  }
  const shared = await of(access).create({ count: 2 })
  t.strictSame(await of(access, { scopes: new Set(['x']) }).read(shared.id), { count: 2, tags: [] })
  await t.rejects(of(access, person('ada')).read(shared.id), { name: 'HandleError' })
})

t.test('32 writers of two replicas on one handle lose nothing, and no draft is shared between ' +
  'attempts', async (t) => {
  const { access, store } = open(t)
  const handles = of(access)
  const replicas = [handles, of(createHandles(store, { maxPerOwner: 1000 }))]
  const { id } = await handles.create({ count: 0 })
  const drafts = new Set<unknown>()
  let attempts = 0
  const callers = Array.from({ length: 32 }, (_, index) => replicas[index % 2])
  await Promise.all(callers.map(async (caller) => await caller?.update(id, async (draft) => {
    attempts++
    t.notOk(drafts.has(draft))
    drafts.add(draft)
    await new Promise(setImmediate)
    count(draft).count++
  })))
  t.match(await handles.read(id), { count: 32 })
  t.ok(attempts > 32, 'they did get into each other\'s way')
})

t.test('concurrent writers of one process do not conflict', async (t) => {
  const { access } = open(t)
  const handles = of(access)
  const { id } = await handles.create({ count: 0 })
  let attempts = 0
  await Promise.all(Array.from({ length: 32 }, async () => await handles.update(id, async (draft) => {
    attempts++
    await new Promise(setImmediate)
    count(draft).count++
  })))
  t.match(await handles.read(id), { count: 32 })
  t.equal(attempts, 32)
})

t.test('an update that changes nothing is written: it may repeat one without acknowledgement', async (t) => {
  const { access, store } = open(t)
  const { id } = await of(access).create({ count: 0 })
  let writes = 0
  const replace: StateStore['replace'] = async (...args) => {
    const record = await store.replace(...args)
    if (++writes === 1) throw new StoreUnavailable(new Error('no replica has the write'))
    return record
  }
  // As bytes, as all stores but that of one process return them.
  const read: StateStore['read'] = async (key) => {
    const record = await store.read(key)
    return record && { ...record, value: { bytes: record.value.bytes } }
  }
  const handles = of(createHandles({ ...store, read, replace }, { maxPerOwner: 10 }))
  await t.rejects(handles.update(id, () => ({ count: 1 })), { name: 'ToolError' })
  t.match(await handles.update(id, () => ({ count: 1 })), { count: 1 })
  t.equal(writes, 2)
})

t.test('the pause between attempts ends with the request', async (t) => {
  const { access, store } = open(t)
  const { id } = await of(access).create({ count: 0 })
  const request = new AbortController()
  let attempts = 0
  const losing: StateStore = { ...store, replace: async () => undefined }
  const handles = createHandles(losing, { maxPerOwner: 10 }).open(
    kindOf(), { principal: ANONYMOUS }, () => request.signal
  )
  await t.rejects(handles.update(id, (draft) => {
    count(draft).count++
    if (++attempts === 3) request.abort()
  }), { name: 'AbortError' })
  t.equal(attempts, 3)
})

t.test('each principal has its own limit of live handles', async (t) => {
  const { access, advance } = open(t, 3)
  const mine = of(access, person('me'))
  const made = [
    await mine.create({ count: 0 }), await mine.create({ count: 0 }), await mine.create({ count: 0 })
  ]
  const error = await mine.create({ count: 0 }).then(() => undefined, (error: unknown) => error)
  t.ok(isToolError(error) && !isHandleError(error))
  t.match(String(error), /Too many handles of yours \(3\)/)
  await t.resolves(of(access, person('them')).create({ count: 0 }))
  await mine.delete(made[0]?.id ?? '')
  await t.resolves(mine.create({ count: 0 }))
  advance(HOUR_MS)
  await t.resolves(mine.create({ count: 0 }), 'what has expired counts no more')
})

t.test('a store that cannot be reached is a tool error, and its cause is for the log', async (t) => {
  const { access, store } = open(t)
  const handles = of(access)
  const { id } = await handles.create({ count: 0 })
  await store.close()
  for (const act of [
    () => handles.create({ count: 0 }), () => handles.read(id),
    () => handles.update(id, () => ({ count: 1 })), () => handles.delete(id)
  ]) {
    const error = await act().then(() => undefined, (error: unknown) => error)
    t.ok(isToolError(error) && !isHandleError(error))
    t.match(String(error), /The counter cannot be reached at the moment/)
    t.ok(error instanceof Error && error.cause instanceof StoreUnavailable)
  }
})

t.test('a creation that was applied and not confirmed does not count for long', async (t) => {
  const { store } = open(t)
  const create: StateStore['create'] = async (...args) => {
    await store.create(...args)
    throw new StoreUnavailable(new Error('no answer in time'))
  }
  const access = createHandles({ ...store, create }, { maxPerOwner: 1 })
  await t.rejects(of(access).create({ count: 0 }), { name: 'ToolError' })
  const count = async () => (await store.list('anonymous')).size
  t.equal(await count(), 1)
  await until(async () => await count() === 0, 'its removal')
})
