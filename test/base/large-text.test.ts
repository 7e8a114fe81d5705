import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { bytesOf, isLarge, toJsonString } from '../../src/base/large-text.ts'

const SLICE = 262_144
const filler = (length: number) => 'a'.repeat(length)

/** Texts whose special characters are where a slice ends. */
const TEXTS: Record<string, string> = {
  'one slice': filler(SLICE),
  'a pair across the end of a slice': `${filler(SLICE - 1)}\u{1f600}${filler(SLICE)}`,
  'pairs before and after the end': `${filler(SLICE - 2)}\u{1f600}\u{1f600}${filler(10)}`,
  'a lone first half at the end': `${filler(SLICE - 1)}\ud83d${filler(10)}`,
  'a lone second half after the end': `${filler(SLICE)}\ude00${filler(10)}`,
  'a pair at the end of the text': `${filler(2 * SLICE - 1)}\u{1f600}`,
  'escapes on both sides': `${filler(SLICE - 2)}"\\\n\u0000é\u2028五${filler(SLICE)}`,
  'no text': ''
}

for (const [name, text] of Object.entries(TEXTS)) {
  t.test(`writes the same JSON and the same bytes as Node: ${name}`, async (t) => {
    t.ok(await toJsonString(text) === JSON.stringify(text))
    const slices: Buffer[] = []
    for await (const slice of bytesOf(text)) slices.push(slice)
    t.ok(Buffer.concat(slices).equals(Buffer.from(text)))
  })
}

t.test('other work has a turn after each slice', async (t) => {
  const text = filler(SLICE * 5)
  const drain = async () => { for await (const slice of bytesOf(text)) t.ok(slice.length === SLICE) }
  for (const work of [async () => await toJsonString(text), drain]) {
    let turns = 0
    const over = work().then(() => true)
    while (!await Promise.race([over, turn(false)])) turns++
    t.ok(turns >= 4, `${turns} turns`)
  }
})

t.test('few of many texts are written at once, in their order', async (t) => {
  const text = filler(SLICE * 8)
  const over = new AbortController()
  let turns = 0
  const counted = (async () => { for (; !over.signal.aborted; turns++) await turn() })()
  const ends = await Promise.all(Array.from({ length: 16 }, async () => {
    await toJsonString(text)
    return turns
  }))
  over.abort()
  await counted
  t.strictSame(ends, ends.toSorted((one, other) => one - other))
  t.ok((ends[0] ?? 0) * 3 < (ends.at(-1) ?? 0), `after ${ends.join(', ')} turns`)
  t.ok(await toJsonString(text) === JSON.stringify(text), 'and later ones too')
})

t.test('a text of one slice is not large', async (t) => {
  t.strictSame([filler(SLICE), filler(SLICE + 1), Buffer.alloc(SLICE + 1)].map(isLarge), [false, true, true])
})
