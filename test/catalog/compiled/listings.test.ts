// The scopes of a listed resource: lists, reads, subscriptions and links obey them.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { send, type Message } from '../../helpers/request.ts'
import { authenticator, moduleOf, resultOf } from './scoped-catalog.ts'

const FILES = {
  'resources/a.resource.ts': moduleOf(`
    export const notes = defineResourceTemplate({
      uriTemplate: 'note://{id}{?page}', name: 'notes', complete: { id: ['open'] },
      list: () => [
        { name: 'open', variables: { id: 'open' } },
        { name: 'secret', variables: { id: 'sécret' }, scopes: ['a'] },
        { name: 'paid', variables: { id: 'paid' }, scopes: ['a', 'b'], whenMissing: 'challenge' }
      ],
      read: ({ id }) => 'note ' + id
    })
    export const all = defineResourceTemplate({ uriTemplate: 'note:{+path}', name: 'all', read: () => 'all' })
    export const guarded = defineResourceTemplate({
      uriTemplate: 'guarded://{id}', name: 'guarded', scopes: ['a'], whenMissing: 'challenge',
      list: () => [{ name: 'x', variables: { id: 'x' }, scopes: ['b'] }, { name: 'y', variables: { id: 'y' } }],
      read: ({ id }) => 'guarded ' + id
    })`),
  'tools/link.ts': moduleOf(`export default defineTool({
    name: 'link',
    inputSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
    run: ({ uri }, ctx) => ({ content: [ctx.linkResource(uri)] })
  })`)
}

t.test('a listed resource may need scopes of its own (107, 136)', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const namesOf = async (scopes: string) =>
    (await resultOf(app, 'resources/list', scopes)).resources.map(({ name }: Message) => name)
  t.strictSame(await namesOf(''), ['x', 'y', 'open', 'paid'])
  t.strictSame(await namesOf('a'), ['x', 'y', 'open', 'paid', 'secret'])

  const read = async (uri: string, authorization: string): Promise<Message> => {
    const headers = { authorization }
    const { response } = await send(app, { method: 'resources/read', params: { uri }, headers })
    return response.result?.contents[0].text ?? response.error.data.requiredScopes ?? response.error.code
  }
  for (const [uri, scopes, answer] of [
    ['note://open', '', 'note open'],
    ['note://unlisted', '', 'note unlisted'],
    ['note://s%C3%A9cret', '', -32602],
    ['note://sécret', '', -32602],
    ['note://%73%c3%a9cret', '', -32602],
    ['note://s%C3%A9cret', 'b', -32602],
    ['note://s%C3%A9cret', 'a', 'note sécret'],
    ['note://%73%C3%A9cret', 'a', 'note sécret'],
    ['note://paid', '', ['a', 'b']],
    ['note://p%61id', 'a', ['a', 'b']],
    ['note://paid', 'a b', 'note paid'],
    ['guarded://x', '', ['a', 'b']],
    ['guarded://x', 'a', ['a', 'b']],
    ['guarded://x', 'b', ['a', 'b']],
    ['guarded://x', 'a b', 'guarded x'],
    ['guarded://y', 'a', 'guarded y'],
    ['guarded://z', 'a', 'guarded z']
  ] as const) {
    t.strictSame(await read(uri, scopes), answer, `${uri} ${scopes}`)
    const params = { name: 'link', arguments: { uri } }
    const { response } = await send(app, { method: 'tools/call', params, headers: { authorization: scopes } })
    const isLinked = response.result !== undefined && response.result.isError !== true
    t.equal(isLinked, typeof answer !== 'object', `a link to ${uri} ${scopes}`)
  }
})

t.test('scopes of a listed resource that could not hold are problems', async (t) => {
  const templateOf = (name: string, options: string, entry: string) => moduleOf(`
    export default defineResourceTemplate({
      uriTemplate: '${name}://{id}', name: '${name}', ${options}, read: () => '',
      list: () => [{ name: 'one', variables: { id: '1' }, ${entry} }]
    })`)
  const problems = await problemsOf(t, {
    'resources/a.resource.ts': templateOf('a', "cache: { cacheScope: 'public' }", "scopes: ['a']"),
    'resources/b.resource.ts': templateOf('b', "scopes: ['a']", "scopes: ['b'], whenMissing: 'challenge'"),
    'resources/c.resource.ts': templateOf('c', 'order: 1', "whenMissing: 'hide'"),
    'resources/d.resource.ts': templateOf('d', 'listTtlMs: 999', 'size: 1'),
    'resources/e.resource.ts': templateOf('e', 'order: 1', "scopes: ['a b']")
  })
  t.match(problems.map(({ rule }) => rule), [
    'listTtlMs: must be >= 1000, got 999',
    'scopes: cannot be set, because cache.cacheScope of the template is public',
    'whenMissing: cannot be challenge, because the template is hidden',
    /scopes/,
    /scopes/
  ])
})
