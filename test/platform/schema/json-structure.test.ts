// The limits of the structure of a body: its depth, and what its parts weigh.

import t from 'tap'
import { createStructureCheck, type StructureLimits } from '../../../src/platform/schema/json-structure.ts'

const UNLIMITED = { maxDepth: 1000, maxWeight: 1_000_000 }

function problemOf (text: string, limits: Partial<StructureLimits>): string | undefined {
  return createStructureCheck({ ...UNLIMITED, ...limits })(Buffer.from(text))
}

/** What a value has, counted in another way. */
class Counted {
  texts = 0
  openings = 0
  names = 0
  readonly combinations = new Set<string>()

  constructor (value: unknown) {
    this.#add(value)
  }

  get weight (): number {
    return 5 * this.texts + 3 * this.openings + this.names + 17 * this.combinations.size
  }

  #add (value: unknown): void {
    if (typeof value === 'string') this.texts++
    if (typeof value !== 'object' || value === null) return
    this.openings++
    const names = Array.isArray(value) ? [] : Object.keys(value)
    this.names += names.length
    names.forEach((_, index) => this.combinations.add(JSON.stringify(names.slice(0, index + 1))))
    for (const member of Object.values(value)) this.#add(member)
  }
}

/** The depth of a value, found in another way. */
function depthOf (value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

t.test('finds the depth of any JSON', async (t) => {
  const samples: unknown[] = [
    1, '', [], {}, [[]], [{}], { a: [] }, [1, [2, [3]], 4], { a: { b: { c: 1 } }, d: [[[[]]]] }, '[[[[',
    ['[{"'], { '[[[': ']]]' }, ['\\'], ['\\"[[['], ['\\\\', ['"']], ['é[', ['\u2028']], { 'a"': '\\\\"[{' },
    [[], [], [], {}, {}, {}]
  ]
  for (const sample of samples) {
    const depth = depthOf(sample)
    for (const text of [JSON.stringify(sample), JSON.stringify(sample, undefined, 2)]) {
      t.equal(problemOf(text, { maxDepth: depth }), undefined)
      if (depth > 0) t.match(problemOf(text, { maxDepth: depth - 1 }), /^the body is nested deeper than \d+ levels$/)
    }
  }
})

const repeat = <T>(count: number, make: (index: number) => T): T[] => (
  Array.from({ length: count }, (_, index) => make(index))
)

const LARGE: { readonly [sample: string]: unknown } = {
  'many names': Object.fromEntries(repeat(300, (i) => [`k${i}`, 'x'])),
  'names with quotes and colons': Object.fromEntries(repeat(300, (i) => [`"${i}\\":{[`, '":{'])),
  'the rows of a table': repeat(300, (i) => ({ id: i, name: `name ${i}`, tags: ['a', 'b'], on: true })),
  'rows with other names': repeat(300, (i) => ({ [`a${i % 7}`]: 1, [`b${i % 11}`]: { [`c${i % 3}`]: [] } })),
  'names in another order': [...repeat(100, () => ({ a: 1, b: 2 })), ...repeat(100, () => ({ b: 2, a: 1 }))],
  'nested arrays': repeat(300, () => [[[]], ['a', 1, null]]),
  'nested objects': repeat(200, () => ({ a: { b: { a: {} } }, b: 1 })),
  numbers: repeat(1000, (i) => i),
  'short texts': repeat(1000, String)
}

for (const [sample, value] of Object.entries(LARGE)) {
  t.test(`weighs texts, arrays, objects and combinations of names: ${sample}`, async (t) => {
    const { weight, combinations: { size } } = new Counted(value)
    for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)]) {
      t.equal(problemOf(text, { maxDepth: 10, maxWeight: weight }), undefined)
      // A few combinations share a place in the table.
      const less = weight - 1 - Math.ceil(0.08 * size) * 17
      if (less > 100) t.match(problemOf(text, { maxDepth: 10, maxWeight: less }), `weighs more than ${less}: 5 for`)
    }
  })
}

t.test('weighs a name that is long or repeated', async (t) => {
  const long = repeat(100, (i) => `"${'k'.repeat(300)}${i}":1`).join(',')
  t.match(problemOf(`{${long}}`, { maxWeight: 600 }), /weighs more than 600/)
  const repeated = repeat(100, () => '"a":1').join(',')
  t.match(problemOf(`{${repeated}}`, { maxWeight: 600 }), /weighs more than 600/)
})

t.test('colons that are no JSON make a body no lighter', async (t) => {
  t.match(problemOf(`[${'[],'.repeat(10_000)}${':'.repeat(10_000)}`, { maxWeight: 10_000 }), /weighs more/)
})

t.test('ends for texts that are no JSON', async (t) => {
  for (const text of ['"', '"\\', '["\\"', ']]]]]', '', '\\"[[[[', '{{{"', ':::::::', '{:[:{:"', '}:}:']) {
    for (const padded of [text, text.repeat(100)]) {
      problemOf(padded, { maxDepth: 2, maxWeight: 54 })
    }
  }
  t.pass('ends')
})

t.test('takes at most a few nanoseconds for each byte', async (t) => {
  const check = createStructureCheck({ maxDepth: 128, maxWeight: 2_000_000 })
  const texts = [
    '1,'.repeat(500_000), '{"a":1},'.repeat(125_000),
    `"${'a'.repeat(1_000_000)}"`, '"a",'.repeat(250_000), `"${'\\"'.repeat(500_000)}"`,
    `"${'\\\\'.repeat(500_000)}"`, '[]'.repeat(500_000), ':'.repeat(1_000_000), `[${'":'.repeat(500_000)}`
  ].map((text) => Buffer.from(text))
  for (const text of texts) {
    check(text)
    const before = process.cpuUsage()
    check(text)
    const { user, system } = process.cpuUsage(before)
    const costMs = (user + system) / 1000
    t.ok(costMs < 100, `${text.toString('utf8', 0, 6)}: ${costMs} ms for a megabyte`)
  }
})
