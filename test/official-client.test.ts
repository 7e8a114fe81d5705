// The official client calls the built service over HTTP, as a user does in the first minutes.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { startService } from './helpers/service.ts'

const EXAMPLE = new URL('../catalog', import.meta.url)

async function connect (t: Test, url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  t.teardown(async () => await client.close())
  return client
}

t.test('the official client uses the example catalog', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'trivet-'))
  t.teardown(async () => await rm(root, { recursive: true, force: true }))
  await cp(EXAMPLE, root, { recursive: true })
  const service = await startService(t, { TRIVET_CATALOG: root })
  const client = await connect(t, service.url)

  await t.test('negotiates the current revision', async (t) => {
    t.match(client.getServerVersion(), { name: 'bookshop' })
    t.match(client.getInstructions(), /search_books/)
  })

  await t.test('lists everything', async (t) => {
    t.strictSame((await client.listTools()).tools.map(({ name }) => name), [
      'search_books', 'get_book', 'quote_shipping', 'build_reading_list', 'create_basket', 'add_to_basket',
      'view_basket', 'remove_from_basket', 'checkout'
    ])
    t.strictSame((await client.listPrompts()).prompts.map(({ name }) => name).toSorted(), [
      'answer_customer', 'code_review', 'recommend_a_book'
    ])
    t.ok((await client.listResources()).resources.some(({ uri }) => uri === 'file:///policies/returns.md'))
    t.strictSame(
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ['basket://{id}', 'book://{id}', 'file:///{+path}']
    )
  })

  await t.test('calls a tool with structured output', async (t) => {
    const result = await client.callTool({ name: 'get_book', arguments: { id: 'moby-dick' } })
    t.match(result.structuredContent, { title: 'Moby-Dick', author: 'Herman Melville' })
  })

  await t.test('mirrors a parameter in its header', async (t) => {
    // The list tells the client which parameters to mirror. The service refuses a missing or wrong header.
    await client.listTools()
    const result = await client.callTool({
      name: 'quote_shipping', arguments: { region: 'eu', items: [{ bookId: 'moby-dick', quantity: 2 }] }
    })
    t.not(result.isError, true)
    t.ok(result.structuredContent)
  })

  await t.test('hears of progress while a slow tool runs (237)', async (t) => {
    const seen: number[] = []
    const result = await client.callTool(
      { name: 'build_reading_list', arguments: { topic: 'sea', count: 3 } },
      { onprogress: ({ progress }) => seen.push(progress) }
    )
    t.not(result.isError, true)
    t.ok(seen.length >= 2)
    t.strictSame(seen, seen.toSorted((a, b) => a - b))
  })

  await t.test('is told which arguments are wrong, as a result that a model can act on (124)', async (t) => {
    const result = await client.callTool({ name: 'get_book', arguments: { id: 7 } })
    t.equal(result.isError, true)
    t.match(JSON.stringify(result.content), /id: must be string, got 7/)
  })

  await t.test('reads files, a template and an image', async (t) => {
    const policy = await client.readResource({ uri: 'file:///policies/returns.md' })
    t.match(policy.contents, [
      { mimeType: 'text/markdown', text: await readFile(join(root, 'resources/policies/returns.md'), 'utf8') }
    ])
    const book = await client.readResource({ uri: 'book://moby-dick' })
    t.match(JSON.stringify(book.contents), /Melville/)
    const cover = await client.readResource({ uri: 'file:///cover.png' })
    t.match(cover.contents, [
      { mimeType: 'image/png', blob: (await readFile(join(root, 'resources/cover.png'))).toString('base64') }
    ])
    await t.rejects(client.readResource({ uri: 'book://no-such-book' }), { code: -32602 })
  })

  await t.test('gets prompts, with an embedded policy', async (t) => {
    const prompt = await client.getPrompt({
      name: 'answer_customer', arguments: { question: 'May I return a book?', policy: 'returns' }
    })
    t.ok(prompt.messages.some(({ content }) => content.type === 'resource'))
    const markdown = await client.getPrompt({ name: 'code_review', arguments: { code: 'let {{x}} = 1' } })
    t.match(JSON.stringify(markdown.messages), /let \{\{x\}\} = 1/)
  })

  await t.test('completes arguments and variables (175)', async (t) => {
    const language = await client.complete({
      ref: { type: 'ref/prompt', name: 'code_review' }, argument: { name: 'language', value: 'typ' }
    })
    t.ok(
      language.completion.values.includes('typescript') || language.completion.values.includes('TypeScript')
    )
    const id = await client.complete({
      ref: { type: 'ref/resource', uri: 'book://{id}' }, argument: { name: 'id', value: 'moby' }
    })
    t.equal(id.completion.values[0], 'moby-dick')
  })

  await t.test('listens, and hears of a live change (135, 194)', async (t) => {
    const changed = new Promise<void>(
      (resolve) => client.setNotificationHandler('notifications/tools/list_changed', () => resolve())
    )
    const updated = new Promise<string>(
      (resolve) => client.setNotificationHandler(
        'notifications/resources/updated', ({ params }) => resolve(params.uri)
      )
    )
    const subscription = await client.listen({
      toolsListChanged: true, resourceSubscriptions: ['file:///policies/returns.md']
    })
    t.match(subscription.honoredFilter, {
      toolsListChanged: true, resourceSubscriptions: ['file:///policies/returns.md']
    })

    await writeFile(
      join(root, 'tools/say-hello.ts'),
      "import { defineTool } from 'trivet'\nexport default defineTool({ name: 'say_hello', description: " +
        "'Greets.', run: () => 'hello' })\n"
    )
    await changed
    t.ok((await client.listTools()).tools.some(({ name }) => name === 'say_hello'))
    t.match((await client.callTool({ name: 'say_hello', arguments: {} })).content, [
      { type: 'text', text: 'hello' }
    ])

    await writeFile(join(root, 'resources/policies/returns.md'), '# Returns\n\nNo more.\n')
    t.equal(await updated, 'file:///policies/returns.md')
    t.match((await client.readResource({ uri: 'file:///policies/returns.md' })).contents, [
      { text: '# Returns\n\nNo more.\n' }
    ])

    t.equal(await service.stop(), 0)
    t.equal(await subscription.closed, 'graceful', 'a stream ends with its result at shutdown (204)')
  })
})
