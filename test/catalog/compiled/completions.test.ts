import fc from 'fast-check'
import t from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import {
  clipCompletion, complete, isCompletionSource, rankCompletions
} from '../../../src/catalog/compiled/lists/completions.ts'

const genres = ['science', 'crime', 'poetry', 'romance']
const numbered = Array.from({ length: 150 }, (_, index) => `book ${index}`)
const refuse = () => { throw new Error('not used here') }
const context = {
  arguments: {},
  principal: ANONYMOUS,
  signal: new AbortController().signal,
  settings: refuse,
  use: refuse,
  fetch: refuse
}

t.test('an empty text matches every candidate, in the given order', async (t) => {
  t.same(rankCompletions(genres, ''), { values: genres, total: 4, hasMore: false })
  t.same(rankCompletions(genres, '  ').values, genres)
})

t.test('returns the matches, best first (178)', async (t) => {
  t.same(rankCompletions(genres, 'po').values, ['poetry'])
  t.equal(rankCompletions(['the crime', 'crime', 'crime and more'], 'crime').values[0], 'crime')
  t.same(rankCompletions(genres, 'zzz'), { values: [], total: 0, hasMore: false })
})

t.test('matches in any case, in the middle of a word, and words in any order (178)', async (t) => {
  t.same(rankCompletions(genres, 'POE').values, ['poetry'])
  t.same(rankCompletions(genres, 'oetry').values, ['poetry'])
  t.same(rankCompletions(['docs/setup/linux.md', 'docs/setup/macos.md'], 'linux setup').values, [
    'docs/setup/linux.md'
  ])
})

t.test('returns at most a hundred values, and sets hasMore (176)', async (t) => {
  const { values, total, hasMore } = rankCompletions(numbered, '')
  t.same(values, numbered.slice(0, 100))
  t.equal(total, 150)
  t.equal(hasMore, true)
  t.match(rankCompletions(numbered, 'book'), { values: { length: 100 }, total: 150, hasMore: true })
  t.match(rankCompletions(numbered.slice(0, 40), 'book'), {
    values: { length: 40 }, total: 40, hasMore: false
  })
})

t.test('equal matches keep the given order (178)', async (t) => {
  const regions = Array.from({ length: 8 }, (_, index) => `region-${index + 1}`)
  t.same(rankCompletions(regions, 'region').values, regions)
})

t.test('finds the best matches among many candidates, at little cost (176, 178)', async (t) => {
  const paths = Array.from({ length: 20_000 }, (_, index) => `src/docs/lib/file-${index}.md`)
  const many = [...paths, 'readme.md', 'src/réadme']
  t.match(rankCompletions(many, 'readme').values, ['readme.md', 'src/réadme'])
  t.same(rankCompletions(many, 'file-777.md').values[0], 'src/docs/lib/file-777.md')
  t.match(rankCompletions(many, 'md lib'), { values: { length: 100 }, hasMore: true })
  rankCompletions(many, 'f')
  const before = process.cpuUsage()
  for (let times = 0; times < 5; times++) rankCompletions(many, 'f')
  const { user, system } = process.cpuUsage(before)
  t.ok((user + system) / 5 < 250_000, `${(user + system) / 5} µs a request`)
})

t.test('a text that is too long matches nothing', async (t) => {
  t.same(rankCompletions(['x'.repeat(500)], 'x'.repeat(201)), { values: [], total: 0, hasMore: false })
})

t.test('cuts values that a function counted (176)', async (t) => {
  t.same(clipCompletion({ values: ['a'], total: 7, hasMore: true }), {
    values: ['a'], total: 7, hasMore: true
  })
  t.same(clipCompletion({ values: ['a'] }), { values: ['a'], hasMore: false })
  t.match(clipCompletion({ values: numbered }), { values: { length: 100 }, hasMore: true })
})

t.test('returns only candidates, and at most a hundred, for any text', async () => {
  fc.assert(fc.property(fc.array(fc.string(), { maxLength: 120 }), fc.string({
    unit: 'binary', maxLength: 250
  }), (candidates, typed) => {
    const { values } = rankCompletions(candidates, typed)
    return values.length <= 100 && values.every((value) => candidates.includes(value))
  }))
})

t.test('ranks a list, and a list that a function returned', async (t) => {
  t.same((await complete(genres, 'po', context)).values, ['poetry'])
  t.same((await complete(() => genres, 'po', context)).values, ['poetry'])
  t.same((await complete(async () => genres, 'po', context)).values, ['poetry'])
})

t.test('does not rank the values of a function that ranked them', async (t) => {
  t.same(await complete((typed) => ({ values: [`${typed}!`, 'zzz'], total: 9 }), 'po', context), {
    values: ['po!', 'zzz'], total: 9, hasMore: false
  })
})

t.test('a function receives the text and the other arguments (178)', async (t) => {
  const seen: unknown[] = []
  await complete((typed, { arguments: others }) => {
    seen.push(typed, others)
    return []
  }, 'x', { ...context, arguments: { genre: 'crime' } })
  t.same(seen, ['x', { genre: 'crime' }])
})

t.test('throws a ContractError for any other output of a function', async (t) => {
  for (const json of ['null', '7', '"a"', '[1]', '{}', '{"values":[1]}']) {
    await t.rejects(
      complete(() => JSON.parse(json), 'x', context),
      { name: 'ContractError', message: /must return a list of strings or/ }, json
    )
  }
  await t.rejects(complete(() => JSON.parse('{}').nothing, 'x', context), { name: 'ContractError' })
})

t.test('knows which values are completion sources', async (t) => {
  for (const source of [[], ['a'], () => []]) t.ok(isCompletionSource(source))
  for (const source of [undefined, null, 'a', [1], {}]) t.notOk(isCompletionSource(source))
})
