// The four list methods. They differ only in the list.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { send, type Message } from '../../helpers/request.ts'

const COUNT = 7
const numbers = Array.from({ length: COUNT }, (_, index) => index)

const FILES: Files = Object.fromEntries(numbers.flatMap((index) => [
  [`tools/${index}.ts`, toolModule(`tool_${index}`)],
  [`prompts/prompt_${index}.md`, '---\ndescription: A prompt.\n---\nHello.\n'],
  [`resources/${index}.resource.ts`, `import { defineResource, defineResourceTemplate } from 'trivet'
    export const a = defineResource({ uri: 'test:${index}', name: 'r', read: () => '' })
    const uriTemplate = 'test${index}://{id}'
    export const b = defineResourceTemplate({ uriTemplate, name: 't', read: () => '' })`]
]))

const LISTS = [
  { method: 'tools/list', member: 'tools', key: 'name', keys: numbers.map((index) => `tool_${index}`) },
  { method: 'prompts/list', member: 'prompts', key: 'name', keys: numbers.map((index) => `prompt_${index}`) },
  {
    method: 'resources/list', member: 'resources', key: 'uri', keys: numbers.map((index) => `test:${index}`)
  },
  {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    keys: numbers.map((index) => `test${index}://{id}`)
  }
] as const

t.test('a list that fits on one page has no cursor (180, 184)', async (t) => {
  const app = await buildApp(t, FILES)
  for (const { method, member, key, keys } of LISTS) {
    const { status, response: { result } } = await send(app, { method })
    t.equal(status, 200)
    t.strictSame(result[member].map((entry: Message) => entry[key]), keys, method)
    t.notOk('nextCursor' in result)
    t.match(result, { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' })
  }
})

t.test('an empty list is a list (106)', async (t) => {
  const app = await buildApp(t, {})
  for (const { method, member } of LISTS) {
    const { status, response: { result } } = await send(app, { method })
    t.equal(status, 200)
    t.strictSame(result[member], [], method)
    t.notOk('nextCursor' in result)
  }
})

t.test('the pages have every entry once, in order, with equal hints (108, 180, 181, 188)', async (t) => {
  const app = await buildApp(t, FILES, { constants: { pageSize: 3 } })
  for (const { method, member, key, keys } of LISTS) {
    const seen: string[] = []
    const sizes: number[] = []
    let cursor: string | undefined
    do {
      const { response: { result } } = await send(app, {
        method, ...(cursor === undefined ? {} : { params: { cursor } })
      })
      const again = await send(app, { method, ...(cursor === undefined ? {} : { params: { cursor } }) })
      t.strictSame(again.response.result, result, 'the same page, the same bytes')
      t.match(result, { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' })
      sizes.push(result[member].length)
      seen.push(...result[member].map((entry: Message) => entry[key]))
      cursor = result.nextCursor
      t.ok(cursor === undefined || typeof cursor === 'string')
    } while (cursor !== undefined && sizes.length < 10)
    t.strictSame(seen, keys, method)
    t.strictSame(sizes, [3, 3, 1])
  }
})

t.test('a list that fills its pages exactly has no empty last page (180)', async (t) => {
  const app = await buildApp(t, FILES, { constants: { pageSize: COUNT } })
  for (const { method } of LISTS) t.notOk('nextCursor' in (await send(app, { method })).response.result)
})

t.test('a cursor works on any connection and replica (185)', async (t) => {
  const one = await buildApp(t, FILES, { constants: { pageSize: 3 } })
  const other = await buildApp(t, FILES, { constants: { pageSize: 2 } })
  for (const { method, member, key, keys } of LISTS) {
    const { response: { result: { nextCursor: cursor } } } = await send(one, { method })
    const { response: { result } } = await send(other, { method, params: { cursor } })
    t.strictSame(result[member].map((entry: Message) => entry[key]), keys.slice(3, 5), method)
  }
})

t.test('any other string is not a cursor, also the empty one (182, 183)', async (t) => {
  const app = await buildApp(t, FILES, { constants: { pageSize: 3 } })
  for (const { method } of LISTS) {
    const { response: { result: { nextCursor } } } = await send(app, { method })
    for (const cursor of [
      '', ' ', 'x', '3', 'null', '../../..', `${nextCursor}=`, ` ${nextCursor}`, nextCursor.slice(0, -1),
      nextCursor.slice(1), 'é', 'A'.repeat(100_000)
    ]) {
      const { status, response } = await send(app, { method, params: { cursor } })
      t.equal(status, 200)
      t.match(
        response.error,
        { code: -32602, message: /^Invalid params: cursor is not a cursor of this list/ },
        `${method} ${cursor.slice(0, 20)}`
      )
    }
    for (const cursor of [1, null, {}, []]) {
      t.match((await send(app, { method, params: { cursor } })).response.error, {
        code: -32602, message: /^Invalid params: cursor: must be string/
      })
    }
  }
})

t.test('the catalog may set the size of a page', async (t) => {
  const app = await buildApp(t, { ...FILES, 'server.yaml': 'pageSize: 2\ncache:\n  listTtlMs: 5\n' }, {
    constants: { pageSize: 5 }
  })
  for (const { method, member } of LISTS) {
    const { response: { result } } = await send(app, { method })
    t.equal(result[member].length, 2)
    t.equal(result.ttlMs, 5)
  }
})

t.test('unknown params are ignored', async (t) => {
  const app = await buildApp(t, FILES)
  for (const { method, member } of LISTS) {
    t.equal((await send(app, { method, params: { filter: 'x' } })).response.result[member].length, COUNT)
  }
})
