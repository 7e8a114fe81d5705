import t from 'tap'
import { isDeeper } from '../../src/http/json-depth.ts'

const bytes = (text: string) => Buffer.from(text)

/** The depth of a value, found in another way. */
function depthOf (value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

t.test('finds the depth of any JSON', (t) => {
  const samples: unknown[] = [
    1, '', [], {}, [[]], [{}], { a: [] }, [1, [2, [3]], 4], { a: { b: { c: 1 } }, d: [[[[]]]] }, '[[[[',
    ['[{"'], { '[[[': ']]]' }, ['\\'], ['\\"[[['], ['\\\\', ['"']], ['é[', ['\u2028']], { 'a"': '\\\\"[{' },
    [[], [], [], {}, {}, {}]
  ]
  for (const sample of samples) {
    const depth = depthOf(sample)
    for (const text of [JSON.stringify(sample), JSON.stringify(sample, undefined, 2)]) {
      t.equal(isDeeper(bytes(text), depth), false)
      if (depth > 0) t.equal(isDeeper(bytes(text), depth - 1), true)
    }
  }
  t.end()
})

t.test('ends for texts that are no JSON', (t) => {
  for (const text of ['"', '"\\', '["\\"', ']]]]]', '', '\\"[[[[', '{{{"']) {
    t.type(isDeeper(bytes(text), 2), 'boolean')
  }
  t.end()
})

t.test('takes at most a few nanoseconds for each byte', (t) => {
  const texts = [
    '1,'.repeat(500_000),
    `"${'a'.repeat(1_000_000)}"`, '"a",'.repeat(250_000), `"${'\\"'.repeat(500_000)}"`,
    `"${'\\\\'.repeat(500_000)}"`, '[]'.repeat(500_000)
  ].map(bytes)
  for (const text of texts) {
    isDeeper(text, 128)
    const before = process.cpuUsage()
    isDeeper(text, 128)
    const { user, system } = process.cpuUsage(before)
    const costMs = (user + system) / 1000
    t.ok(costMs < 100, `${text.toString('utf8', 0, 6)}: ${costMs} ms for a megabyte`)
  }
  t.end()
})
