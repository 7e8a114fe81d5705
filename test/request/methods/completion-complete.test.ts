import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'

const FILES = {
  'prompts/order.ts': `import { definePrompt } from 'trivet'
    const many = Array.from({ length: 250 }, (_, index) => 'item-' + index)
    const streets = { Paris: ['Rue A', 'Rue B'], Bern: ['Gasse'] }
    export default definePrompt({
      name: 'order', description: 'Orders.', render: () => 'ok',
      arguments: [
        { name: 'city', complete: ['Paris', 'Berlin', 'Bern', 'New York', 'Bremen'] },
        { name: 'many', complete: many },
        { name: 'street', complete: (typed, ctx) => streets[ctx.arguments.city] ?? [] },
        { name: 'later', complete: async () => ['b', 'a'] },
        { name: 'ranked', complete: (typed) => ({ values: ['z', typed, 'a'], total: 77, hasMore: true }) },
        { name: 'ranked_many', complete: () => ({ values: many }) },
        { name: 'who', complete: (_, ctx) => [String(ctx.signal.aborted), [...ctx.principal.scopes].join()] },
        { name: 'fails', complete: () => { throw new Error('hunter2') } },
        { name: 'wrong', complete: () => 'hunter2' },
        { name: 'nothing', complete: () => undefined },
        { name: 'nil', complete: () => null },
        { name: 'free' }
      ]
    })`,
  'resources/book.resource.ts': `import { defineResourceTemplate } from 'trivet'
    export default defineResourceTemplate({
      uriTemplate: 'book://{shelf}/{id}', name: 'book', read: () => '',
      complete: { id: ['moby-dick', 'emma'] }
    })`,
  'resources/docs/a.md': '# a'
}

const prompt = { type: 'ref/prompt', name: 'order' }

function complete (ref: object, name: string, value = '', context?: object) {
  return {
    method: 'completion/complete',
    params: { ref, argument: { name, value }, ...(context === undefined ? {} : { context }) }
  }
}

t.test('suggests values for the arguments of prompts, the best match first (174, 175, 178)', async (t) => {
  const app = await buildApp(t, FILES)
  const suggested = async (name: string, value: string, context?: object) => (
    await send(app, complete(prompt, name, value, context))
  ).response.result.completion
  t.strictSame(
    await suggested('city', ''),
    { values: ['Paris', 'Berlin', 'Bern', 'New York', 'Bremen'], total: 5, hasMore: false },
    'all, in the order of the author, where nothing is typed'
  )
  t.equal((await suggested('city', 'bern')).values[0], 'Bern')
  t.strictSame((await suggested('city', 'ber')).values.toSorted(), ['Berlin', 'Bern'])
  t.strictSame(
    await suggested('city', 'nyo'), { values: ['New York'], total: 1, hasMore: false },
    'letters in their order are enough'
  )
  t.strictSame(await suggested('city', 'xyz'), { values: [], total: 0, hasMore: false })
  t.strictSame(await suggested('later', ''), { values: ['b', 'a'], total: 2, hasMore: false })
  t.strictSame(
    await suggested('free', 'a'), { values: [], total: 0, hasMore: false },
    'an argument without suggestions has none'
  )
  t.strictSame((await suggested('who', '')).values, ['false', ''])
})

t.test('a function receives the other arguments (178)', async (t) => {
  const app = await buildApp(t, FILES)
  const streets = async (context?: object) => (
    await send(app, complete(prompt, 'street', '', context))
  ).response.result.completion.values
  t.strictSame(await streets({ arguments: { city: 'Paris' } }), ['Rue A', 'Rue B'])
  t.strictSame(await streets({ arguments: { city: 'Bern' } }), ['Gasse'])
  t.strictSame(await streets({ arguments: {} }), [])
  t.strictSame(await streets({}), [])
  t.strictSame(await streets(), [])
})

t.test('a result has at most a hundred values, and their total (176)', async (t) => {
  const app = await buildApp(t, FILES)
  const all = (await send(app, complete(prompt, 'many'))).response.result.completion
  t.equal(all.values.length, 100)
  t.match(all, { total: 250, hasMore: true })
  t.equal(
    (await send(app, complete(prompt, 'many', 'item-24'))).response.result.completion.values[0], 'item-24'
  )
  const ranked = (await send(app, complete(prompt, 'ranked_many'))).response.result.completion
  t.equal(ranked.values.length, 100)
  t.strictSame(
    { ...ranked, values: [] }, { values: [], hasMore: true },
    'a total that the author did not give is not made up'
  )
})

t.test('does not rank the values of a function that ranked them', async (t) => {
  const app = await buildApp(t, FILES)
  t.strictSame((await send(app, complete(prompt, 'ranked', 'typed'))).response.result.completion, {
    values: ['z', 'typed', 'a'], total: 77, hasMore: true
  })
})

t.test('suggests values for variables, by the template or by a URI of it (175)', async (t) => {
  const app = await buildApp(t, FILES)
  for (const uri of ['book://{shelf}/{id}', 'book://a/b']) {
    const { response: { result } } = await send(app, complete({ type: 'ref/resource', uri }, 'id', 'em'))
    t.strictSame(result.completion.values, ['emma'], uri)
    t.strictSame(
      (await send(app, complete({ type: 'ref/resource', uri }, 'shelf'))).response.result.completion.values,
      []
    )
  }
  t.strictSame(
    (
      await send(app, complete({ type: 'ref/resource', uri: 'file:///{+path}' }, 'path', 'a'))
    ).response.result.completion.values,
    ['docs/a.md']
  )
})

t.test('unknown references and arguments and malformed requests are invalid params (177, 179)', async (t) => {
  const app = await buildApp(t, FILES)
  for (const [params, message] of [
    [complete({ type: 'ref/prompt', name: 'none' }, 'a').params, 'unknown prompt "none"'],
    [complete({ type: 'ref/resource', uri: 'none://x' }, 'a').params, 'no resource template "none://x"'],
    [complete(prompt, 'none').params, 'order has no argument "none"'],
    [
      complete({ type: 'ref/resource', uri: 'book://a/b' }, 'none').params,
      'book://{shelf}/{id} has no argument "none"'
    ],
    [complete({ type: 'ref/tool', name: 'a' }, 'a').params, /^ref/],
    [complete({ type: 'ref/prompt' }, 'a').params, /^ref/],
    [{ ref: prompt }, /^argument: is required/],
    [{ argument: { name: 'city', value: '' } }, /^ref: is required/],
    [{ ref: prompt, argument: { name: 'city' } }, /^argument\.value: is required/],
    [
      { ref: prompt, argument: { name: 'city', value: 'x'.repeat(5000) } },
      /^argument\.value: must NOT have more than 4096 characters/
    ],
    [complete(prompt, 'city', '', { arguments: { a: 1 } }).params, /^context\.arguments\.a: must be string/]
  ] as const) {
    const { status, response } = await send(app, { method: 'completion/complete', params })
    t.equal(status, 200)
    t.equal(response.error?.code, -32602)
    t.match(response.error.message.replace('Invalid params: ', ''), message)
  }
})

t.test('a source that throws, or returns no suggestions, is an internal error (179)', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, FILES, { logger: log.logger })
  for (const [index, name] of ['fails', 'wrong', 'nothing', 'nil'].entries()) {
    const { error } = (await send(app, complete(prompt, name))).response
    t.match(error, { code: -32603, message: 'Internal error', data: { requestId: String } }, name)
    t.equal(
      log.lines.filter(({ msg, err }) => msg === 'request failed' && err !== undefined).length, index + 1
    )
  }
})

t.test('a long text takes little time', async (t) => {
  const app = await buildApp(t, FILES)
  const before = process.cpuUsage()
  for (const value of ['a'.repeat(4096), 'item-'.repeat(800), `${'i '.repeat(100)}`, '- '.repeat(2000)]) {
    t.equal((await send(app, complete(prompt, 'many', value))).status, 200)
  }
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 3_000_000, `${user + system} µs`)
})
