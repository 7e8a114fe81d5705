// Everything that official clients can do, at each revision that they speak. Each request goes to the replica
// that did not receive the one before.

import t, { type Test } from 'tap'
import { toolModule, writeByRename } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { connectOfficial, MODERN, type Answers, type Kind, type OfficialClient } from './legacy-client.ts'
import { startShop, type Shop } from './legacy-shop.ts'

const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const KINDS: Kind[] = [
  ...LEGACY.map((revision) => ({ generation: 1 as const, revision })),
  ...[...LEGACY, MODERN].map((revision) => ({ generation: 2 as const, revision }))
]
const POLICY = 'file:///policies/returns.md'

if (hasRedisServer(t) && hasNginx(t)) {
  t.test('three replicas behind nginx', async (t) => {
    const shop = await startShop(t)
    for (const kind of KINDS) {
      t.test(`client ${kind.generation}.x at ${kind.revision}`, async (t) => await checkClient(t, shop, kind))
    }
  })
}

async function checkClient (t: Test, shop: Shop, kind: Kind): Promise<void> {
  const { revision } = kind
  const asked: Message[] = []
  const answers: Answers & { choice: Message } = {
    choice: { action: 'decline' },
    elicit (params) {
      asked.push(params)
      return answers.choice
    },
    sample (params) {
      asked.push(params)
      return { role: 'assistant', model: 'a model', content: { type: 'text', text: 'an umbrella' } }
    }
  }
  const connected = await connectOfficial(t, shop.url, kind, answers)
  const { client, call, wire, notifications } = connected
  t.equal(connected.sessionId !== undefined, revision !== MODERN, 'it has a session, where there are any')

  await t.test('lists', async (t) => {
    const { tools } = await client.listTools()
    t.ok(['search_books', 'checkout', 'work'].every((name) => tools.some((tool) => tool.name === name)))
    const shown: Message = tools.find(({ name }) => name === 'search_books')
    t.equal(
      'outputSchema' in shown && 'title' in shown, revision >= '2025-06-18',
      'what its revision does not have is not in them'
    )
    t.equal('annotations' in shown, revision >= '2025-03-26')
    t.ok((await client.listPrompts()).prompts.length >= 3)
    t.ok((await client.listResources()).resources.some(({ uri }) => uri === POLICY))
    t.ok(
      (await client.listResourceTemplates()).resourceTemplates.some(
        ({ uriTemplate }) => uriTemplate === 'basket://{id}'
      )
    )
  })

  await t.test('calls', async (t) => {
    const result = await call('get_book', { id: 'moby-dick' })
    t.match(result.content, [{ type: 'text', text: /Herman Melville/ }])
    if (revision >= '2025-06-18') t.match(result.structuredContent, { title: 'Moby-Dick' })
    else t.notOk('structuredContent' in result)
    await t.rejects(call('get_book', { id: 7 }), { message: /^[^M]*id: must be string, got 7/ }, 'as a result')
  })

  await t.test('hears of progress', async (t) => {
    const seen: Message[] = []
    await call(
      'build_reading_list', { topic: 'science fiction', count: 3 }, (progress) => seen.push(progress)
    )
    t.strictSame(seen.map(({ progress, total }) => [progress, total]), [[1, 3], [2, 3], [3, 3]])
    t.ok(seen.every((progress) => ('message' in progress) === (revision >= '2025-03-26')))
  })

  await t.test('sets the level of the log, which every replica obeys', {
    skip: revision === MODERN && 'each request says it'
  }, async (t) => {
    const logged = async () => {
      notifications.length = 0
      for (let call = 0; call < 3; call++) {
        await connected.call('build_reading_list', { topic: 'sea', count: 1 })
      }
      return notifications.filter(({ method }) => method === 'notifications/message').map(
        ({ params }) => params.level
      )
    }
    t.strictSame(await logged(), [], 'warning and higher by default')
    await client.setLoggingLevel('info')
    t.strictSame(await logged(), ['info', 'info', 'info'])
    await client.setLoggingLevel('warning')
    t.strictSame(await logged(), [])
    await client.setLoggingLevel('debug')
    t.strictSame(await logged(), ['info', 'info', 'info'])
  })

  await t.test('answers for its user and its model', async (t) => {
    asked.length = 0
    t.match((await call('ask_model', { question: 'What to pack for Cork?' })).content, [
      { text: 'an umbrella' }
    ])
    t.match(asked, [
      { messages: [{ role: 'user', content: { type: 'text', text: 'What to pack for Cork?' } }] }
    ])
    const basketId = await fillBasket(connected)
    if (revision < '2025-06-18') {
      await t.rejects(call('checkout', { basketId }), {
        message: /this protocol version cannot ask the user/
      })
      return
    }
    for (const [choice, outcome] of [
      [{ action: 'decline' }, { ordered: false }], [{ action: 'cancel' }, { ordered: false }],
      [{ action: 'accept', content: { confirm: false } }, { ordered: false }],
      [{ action: 'accept', content: { confirm: true } }, { ordered: true, order: { number: String } }]
    ]) {
      answers.choice = choice
      t.match((await call('checkout', { basketId })).structuredContent, outcome, JSON.stringify(choice))
    }
    t.equal(asked.length, 5, 'each question was asked once')
    t.match(asked.at(-1), { message: /^Order 1 x Moby-Dick for / })
    t.equal(asked.at(-1).mode, revision >= '2025-11-25' ? 'form' : undefined)
  })

  await t.test('follows a resource', async (t) => {
    const basketId = await fillBasket(connected)
    const uri = `basket://${basketId}`
    const leave = await connected.follow(uri)
    const told = () => notifications.filter(
      ({ method, params }) => method === 'notifications/resources/updated' && params.uri === uri
    ).length
    notifications.length = 0
    await call('add_to_basket', { basketId, bookId: 'moby-dick' })
    await until(() => told() > 0, 'the notification')
    // Any other notification would come before that of the next change.
    await call('add_to_basket', { basketId, bookId: 'moby-dick' })
    await until(() => told() > 1, 'the second notification')
    t.equal(told(), 2, 'once for each change')
    await leave()
    await call('add_to_basket', { basketId, bookId: 'moby-dick' })
    const other = await fillBasket(connected)
    await connected.follow(`basket://${other}`)
    await call('add_to_basket', { basketId: other, bookId: 'moby-dick' })
    await until(
      () => notifications.some(({ params }) => params?.uri === `basket://${other}`), 'news of another'
    )
    t.equal(told(), 2, 'and no more once it has had enough')
  })

  await t.test('reads, prompts and completes', async (t) => {
    t.match((await client.readResource({ uri: POLICY })).contents, [
      { mimeType: 'text/markdown', text: /^# / }
    ])
    // The newer client translates the error code.
    await t.rejects(client.readResource({ uri: 'book://no-such-book' }), {
      code: kind.generation === 1 ? -32002 : -32602, message: /Resource not found/
    })
    t.match((await client.getPrompt({ name: 'code_review', arguments: { code: 'let x = 1' } })).messages, [
      { content: { text: /let x = 1/ } }
    ])
    if (revision === '2024-11-05') return
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'book://{id}' }, argument: { name: 'id', value: 'moby' }
    })
    t.equal(completion.values[0], 'moby-dick')
  })

  await t.test('is told that a list has changed', async (t) => {
    await connected.followTools()
    notifications.length = 0
    const name = `new_${kind.generation}_${revision.replaceAll('-', '_')}`
    await writeByRename(shop.catalog, `tools/${name}.ts`, toolModule(name))
    // Each replica reads the file itself, and another replica may serve the list. A client that lists after
    // each notification has the tool in the end.
    const told = () => notifications.filter(
      ({ method }) => method === 'notifications/tools/list_changed'
    ).length
    let [listings, isListed] = [0, false]
    await until(async () => {
      if (told() > listings) {
        listings = told()
        isListed = (await client.listTools()).tools.some((tool) => tool.name === name)
      }
      return isListed
    }, 'the tool in the list')
    t.ok(listings > 0)
    const calls = async () => await Promise.all(
      shop.replicas.map(async () => (await call(name)).content[0].text)
    )
    await until(async () => await calls().then(() => true, () => false), 'the tool on every replica')
  })

  t.equal(wire.count('initialize'), revision === MODERN ? 0 : 1)
  t.strictSame(connected.errors, [])
}

async function fillBasket ({ call }: OfficialClient): Promise<string> {
  const { basketId } = JSON.parse((await call('create_basket')).content[0].text)
  await call('add_to_basket', { basketId, bookId: 'moby-dick' })
  return basketId
}
