import fc from 'fast-check'
import t from 'tap'
import { compareListOrder, type CompiledPrimitive } from '../../../src/catalog/compiled/compiled-primitive.ts'
import { createPages, readCursor, toCursor, type Pages } from '../../../src/catalog/compiled/lists/pages.ts'
import { createResultWriter } from '../../../src/catalog/compiled/results/result-json.ts'

const writer = createResultWriter({ name: 'shop', version: '1.0.0' })

function toEntry (key: string, order: number): CompiledPrimitive {
  return { key, order, scopes: [], whenMissing: 'hide', json: JSON.stringify({ name: key }) }
}

function offered (...keys: string[]): CompiledPrimitive[] {
  return keys.map((key) => toEntry(key, 0))
}

function pagesOf (list: readonly CompiledPrimitive[], pageSize: number): Pages {
  return createPages(list, { member: 'tools', pageSize, cache: { ttlMs: 5, cacheScope: 'private' }, writer })
}

interface Page {
  readonly tools: ReadonlyArray<{ readonly name: string }>
  readonly nextCursor?: string
  readonly ttlMs: number
  readonly cacheScope: string
  readonly resultType: string
}

function read (pages: Pages, cursor?: string): Page {
  return JSON.parse(String(pages.page(cursor)))
}

/** Every page from the first to the last. */
function follow (pages: Pages): Page[] {
  const first = read(pages)
  const all = [first]
  for (let next = first.nextCursor; next !== undefined; next = all.at(-1)?.nextCursor) {
    all.push(read(pages, next))
  }
  return all
}

const namesOf = (page: Page) => page.tools.map(({ name }) => name)

t.test('a short list is one page without a cursor (180)', async (t) => {
  for (const list of [[], offered('a'), offered('a', 'b', 'c')]) {
    const [page, ...more] = follow(pagesOf(list, 3))
    t.same(page?.tools.map(({ name }) => name), list.map(({ key }) => key))
    t.equal(more.length, 0)
    t.notOk(page !== undefined && 'nextCursor' in page)
  }
})

t.test('a longer list has several pages, each with the cursor of the next (180)', async (t) => {
  t.same(follow(pagesOf(offered('a', 'b', 'c', 'd', 'e'), 2)).map(namesOf), [['a', 'b'], ['c', 'd'], ['e']])
  t.same(
    follow(pagesOf(offered('a', 'b', 'c', 'd'), 2)).map(namesOf), [['a', 'b'], ['c', 'd']],
    'no empty page at the end'
  )
  t.same(follow(pagesOf(offered('a', 'b'), 1)).map(namesOf), [['a'], ['b']])
})

t.test('every page has the same cache hints (186, 188)', async (t) => {
  for (const page of follow(pagesOf(offered('a', 'b', 'c', 'd', 'e'), 2))) {
    t.match(page, { resultType: 'complete', ttlMs: 5, cacheScope: 'private' })
  }
})

t.test('a cursor works on every replica and after a reload (185)', async (t) => {
  const list = offered('a', 'b', 'c')
  const { nextCursor } = read(pagesOf(list, 2))
  t.same(namesOf(read(pagesOf(list, 2), nextCursor)), ['c'])
})

t.test('skips and repeats no entry when the list changes between two pages (181)', async (t) => {
  const { nextCursor } = read(pagesOf(offered('b', 'd', 'f', 'h'), 2))
  t.same(
    namesOf(read(pagesOf(offered('a', 'b', 'c', 'd', 'f', 'h'), 2), nextCursor)), ['f', 'h'], 'added before'
  )
  t.same(
    namesOf(read(pagesOf(offered('b', 'f', 'h'), 2), nextCursor)), ['f', 'h'], 'the last one seen removed'
  )
  t.same(namesOf(read(pagesOf(offered('b', 'd', 'e', 'f', 'h'), 2), nextCursor)), ['e', 'f'], 'added after')
  t.same(follow(pagesOf(offered('b', 'd'), 2)).length, 1)
  t.same(read(pagesOf(offered('b', 'd'), 2), nextCursor).tools, [], 'the rest removed')
})

t.test('refuses a string that is not a cursor (182)', async (t) => {
  const pages = pagesOf(offered('a', 'b', 'c'), 1)
  for (const cursor of [
    '', 'x', '0', 'AAAA', '????', 'null', '日本', Buffer.from('x a').toString('base64url'),
    `${toCursor({ order: 0, key: 'a' }, 'tools')}=`
  ]) {
    t.equal(pages.page(cursor), undefined, cursor)
  }
})

t.test('refuses a cursor of another list, and one that no list has issued (182)', async (t) => {
  const list = offered('a', 'b', 'c')
  const pages = pagesOf(list, 1)
  const { nextCursor = '' } = read(pages)
  const prompts = createPages(list, { member: 'prompts', pageSize: 1, writer })
  const directory = createPages(list, { member: 'tools', list: 'skill://a', pageSize: 1, writer })
  for (const other of [prompts, directory]) t.equal(other.page(nextCursor), undefined)
  t.equal(pages.page(Buffer.from('12345678 0 a').toString('base64url')), undefined)
  t.ok(pages.page(nextCursor))
})

t.test('a cursor is opaque and may stand in a URL', async (t) => {
  t.match(toCursor({ order: -1.5, key: 'x://größe/{id}' }, 'tools'), /^[\w-]+$/)
})

const order = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)

t.test('reads every cursor that it made', async () => {
  fc.assert(fc.property(order, fc.string({ unit: 'binary', minLength: 1 }), (order, key) => {
    const place = readCursor(toCursor({ order, key }, 'tools'), 'tools')
    return place?.key === key && place.order === order
  }), { numRuns: 1000 })
})

t.test('reads any string without an error', async () => {
  const encoded = fc.string().map((text) => Buffer.from(text).toString('base64url'))
  const almost = fc.tuple(fc.string(), fc.string()).map(
    ([order, key]) => Buffer.from(`${order} ${key}`).toString('base64url')
  )
  fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), encoded, almost), (cursor) => {
    const place = readCursor(cursor, 'tools')
    return place === undefined || toCursor(place, 'tools') === cursor
  }), { numRuns: 1000 })
})

t.test('has every entry once and in order, for any page size (180)', async () => {
  const entry = fc.record({ key: fc.string({ minLength: 1 }), order: fc.constantFrom(-1, 0, 0.5, 2, 1e21) })
  fc.assert(fc.property(fc.uniqueArray(entry, { selector: ({ key }) => key, maxLength: 20 }), fc.integer({
    min: 1, max: 8
  }), (entries, pageSize) => {
    const list = entries.map(({ key, order }) => toEntry(key, order)).sort(compareListOrder)
    const pages = follow(pagesOf(list, pageSize))
    const sizes = pages.map(({ tools }) => tools.length)
    return JSON.stringify(pages.flatMap(namesOf)) === JSON.stringify(list.map(({ key }) => key)) &&
      sizes.slice(0, -1).every((size) => size === pageSize)
  }), { numRuns: 300 })
})
