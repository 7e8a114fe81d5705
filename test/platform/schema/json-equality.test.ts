import fc from 'fast-check'
import t from 'tap'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'

const { compile } = createSchemaCompiler({ useDefaults: false })

t.test('values are equal whatever the order of their members, and by their JSON alone', async (t) => {
  const item = { a: [1, { b: null, c: 'x' }], d: -0 }
  for (const schema of [{ const: item }, { enum: [1, item] }]) {
    const check = compile(schema)
    t.equal(check({ d: 0, a: [1, { c: 'x', b: null }] }).ok, true)
    for (const other of [{ ...item, e: 1 }, { a: [1] }, [item], '1', null, JSON.stringify(item)]) {
      t.equal(check(other).ok, false, JSON.stringify(other))
    }
  }
})

t.test('members that are named like methods are members', async (t) => {
  const hostile = [{ valueOf: {} }, { toString: 1 }, { constructor: null }, JSON.parse('{"__proto__": 1}')]
  for (const value of hostile) {
    t.equal(compile({ enum: [{}] })(value).ok, false, JSON.stringify(value))
    t.equal(compile({ const: value })(value).ok, true)
    t.equal(compile({ uniqueItems: true })([{}, value]).ok, true)
    t.equal(compile({ uniqueItems: true })([value, value]).ok, false)
  }
})

t.test('items are unique where no two have the same JSON', async (t) => {
  const check = compile({ uniqueItems: true })
  fc.assert(fc.property(fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 6 }), (items) => {
    const isUnique = items.every((one, i) => items.slice(0, i).every((other) => !isEqual(one, other)))
    if (check(items).ok !== isUnique) throw new Error(JSON.stringify(items))
  }), { numRuns: 1000 })
  const verdict = check(['a', { b: 1 }, { b: 1 }])
  t.match(verdict, { problems: [/items ## 1 and 2 are identical/] })
})

/** As the specification of JSON Schema says it, in quadratic time. */
function isEqual (a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
    return Object.is(a, b) || a === b
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [ours, theirs] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return ours.size === theirs.size &&
    [...ours].every(([name, value]) => theirs.has(name) && isEqual(value, theirs.get(name)))
}

t.test('comparing takes time in proportion to the value', async (t) => {
  const objects = Array.from({ length: 40_000 }, (_, index) => ({ id: index }))
  const large = { list: objects }
  const cases: ReadonlyArray<readonly [name: string, schema: object, value: unknown]> = [
    ['uniqueItems', { uniqueItems: true }, objects],
    ['enum', { enum: Array.from({ length: 500 }, (_, index) => ({ list: [{ id: index }] })) }, large]
  ]
  for (const [name, schema, value] of cases) {
    const check = compile({ ...schema })
    check([])
    const before = process.cpuUsage()
    check(value)
    const { user } = process.cpuUsage(before)
    t.ok(user < 1_000_000, `${name}: ${user / 1000} ms of CPU`)
  }
})

t.test('a value that is nested too deeply is refused', async (t) => {
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  for (const schema of [{ enum: [{}] }, { const: {} }, { uniqueItems: true }]) {
    t.match(compile(schema)([deep]), { ok: false })
  }
})

t.test('a problem has the place of its own value, and never that of an earlier one', async (t) => {
  const check = compile({
    additionalProperties: { enum: ['a'] }, properties: { c: { items: { const: 1 } } }
  })
  const placesOf = (value: unknown) => {
    const answer = check(value)
    return answer.ok ? [] : answer.problems.map((problem) => problem.split(':')[0])
  }
  t.strictSame(placesOf({ first: 'x' }), ['first'])
  t.strictSame(placesOf({ second: 'x', third: 'y' }), ['second', 'third'])
  t.strictSame(placesOf({ c: [2] }), ['c[0]'])
  t.strictSame(placesOf({ c: [1, 2, 3] }), ['c[1]', 'c[2]'])
})
