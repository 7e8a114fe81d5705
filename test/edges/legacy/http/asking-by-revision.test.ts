// The requests by which a handler asks its client, in the form of each revision.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import type { Message } from '../../../helpers/request.ts'
import {
  LEGACY_REVISIONS, openSession, type SessionClient, type SessionReply
} from '../../../helpers/session.ts'
import { ASKERS } from './askers.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, elicit, roots, sample } from 'trivet'
    const define = (name, run) => defineTool({ name, description: 'A tool.', run })
    const properties = { size: { type: 'string', enum: ['S', 'L'] } }
    const sizes = { type: 'object', properties, required: ['size'] }
    const colours = [{ const: 'r', title: 'Red' }, { const: 'b', title: 'Blue' }]
    const rich = { type: 'object', properties: {
      plain: { type: 'string', title: 'Plain', minLength: 1, default: 'a' },
      count: { type: 'integer', minimum: 1, default: 2 },
      sure: { type: 'boolean', default: true },
      titled: { type: 'string', oneOf: colours, default: 'r' }
    } }
    const tags = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }
    const many = { type: 'object', properties: { tags } }
    const ask = async (ctx, request) => JSON.stringify((await ctx.ask({ a: request })).a)
    const form = (message, schema) => elicit.form({ message, schema })
    const text = (text) => ({ type: 'text', text })
    const said = (content, role = 'user') => ({ role, content })
    const words = (words) => [said(text(words))]
    const model = (messages, options = {}) => sample({ messages, maxTokens: 10, ...options })
    const meta = { 'example.com/a': 1 }
    const annotations = { priority: 1, lastModified: '2025-01-01T00:00:00Z' }
    const noted = { ...said({ ...text('Hi'), annotations, _meta: meta }), _meta: meta }
    const used = said({ type: 'tool_use', id: 'u', name: 't', input: {} }, 'assistant')
    const usedResult = said({ type: 'tool_result', toolUseId: 'u', content: [] })
    const spoken = said({ type: 'audio', data: 'AA==', mimeType: 'audio/wav' })
    const tools = [{ name: 't', inputSchema: { type: 'object' } }]
    const url = { message: 'Visit?', url: 'https://a.example/b' }
    export default [
      define('form', async (_, ctx) => await ask(ctx, form('Which size?', sizes))),
      define('rich', async (_, ctx) => await ask(ctx, form('All of it?', rich))),
      define('many', async (_, ctx) => await ask(ctx, form('Which?', many))),
      define('url', async (_, ctx) => await ask(ctx, elicit.url(url))),
      define('sample', async (_, ctx) => await ask(ctx, model(words('Hi')))),
      define('talk', async (_, ctx) => await ask(ctx, model([said([text('One'), text('Two')])]))),
      define('sample_noted', async (_, ctx) => await ask(ctx, model([noted]))),
      define('sample_used', async (_, ctx) => await ask(ctx, model([...words('Hi'), used, usedResult]))),
      define('sample_spoken', async (_, ctx) => await ask(ctx, model([spoken]))),
      define('sample_tools', async (_, ctx) => await ask(ctx, model(words('Hi'), { tools }))),
      define('roots', async (_, ctx) => await ask(ctx, roots()))
    ]`,
  ...ASKERS
}

async function open (t: Test, revision: string): Promise<SessionClient> {
  return await openSession(t, await listen(await buildApp(t, FILES)), { revision })
}

const valueOf = ({ result }: SessionReply): Message => JSON.parse(result.content[0].text)

/** Calls a tool and answers its one question. */
async function callAndAnswer (
  session: SessionClient, name: string, result: unknown
): Promise<{ readonly question: Message, readonly reply: SessionReply }> {
  const reply = await session.startCall(name)
  const question = await reply.next()
  await session.answer(question.id, result)
  return { question, reply: await reply.ended() }
}

for (const revision of LEGACY_REVISIONS) {
  const hasForms = revision >= '2025-06-18'
  const isLast = revision === '2025-11-25'

  t.test(`at ${revision}`, async (t) => {
    const session = await open(t, revision)

    t.test('sends a form in the revision\'s form, or reports that it cannot (331, 358, 366)', async (t) => {
      if (!hasForms) {
        t.match((await session.call('form')).result, {
          isError: true, content: [{ text: /cannot ask the user/ }]
        })
        return
      }
      const { question, reply } = await callAndAnswer(session, 'rich', {
        action: 'accept', content: { plain: 'x', titled: 'b' }
      })
      t.equal(question.method, 'elicitation/create')
      const {
        mode, message, requestedSchema: { properties: { plain, count, sure, titled } }
      } = question.params
      t.strictSame([mode, message], [isLast ? 'form' : undefined, 'All of it?'])
      t.strictSame(plain, { type: 'string', title: 'Plain', minLength: 1, ...(isLast && { default: 'a' }) })
      t.strictSame(count, { type: 'integer', minimum: 1, ...(isLast && { default: 2 }) })
      t.strictSame(sure, { type: 'boolean', default: true })
      if (isLast) t.strictSame(titled.oneOf, [{ const: 'r', title: 'Red' }, { const: 'b', title: 'Blue' }])
      else t.strictSame(titled, { type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] })
      t.match(valueOf(reply), { action: 'accept', content: { plain: 'x', titled: 'b' } })
    })

    t.test('asks for a multiple-choice field if the revision has such fields (366)', async (t) => {
      if (isLast) {
        t.match(
          valueOf(
            (await callAndAnswer(session, 'many', { action: 'accept', content: { tags: ['a'] } })).reply
          ),
          { content: { tags: ['a'] } }
        )
      } else t.equal((await session.call('many')).result.isError, true)
    })

    t.test('sends the user to a URL if the revision allows it (356, 366)', async (t) => {
      if (!isLast) {
        t.equal((await session.call('url')).result.isError, true)
        return
      }
      const first = (await callAndAnswer(session, 'url', { action: 'accept' })).question.params
      const second = (await callAndAnswer(session, 'url', { action: 'decline' })).question.params
      t.match(first, { mode: 'url', url: 'https://a.example/b', message: 'Visit?' })
      t.not(first.elicitationId, second.elicitationId)
    })

    t.test('asks the model (331)', async (t) => {
      const said = {
        role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm', stopReason: 'endTurn'
      }
      const { question, reply } = await callAndAnswer(session, 'sample', said)
      t.equal(question.method, 'sampling/createMessage')
      t.strictSame(question.params, {
        messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10
      })
      t.strictSame(valueOf(reply), said)
      t.strictSame((await callAndAnswer(session, 'talk', said)).question.params.messages.map(
        ({ content }: Message) => content
      ), isLast
        ? [[{ type: 'text', text: 'One' }, { type: 'text', text: 'Two' }]]
        : [{ type: 'text', text: 'One' }, { type: 'text', text: 'Two' }])
      const noted = (await callAndAnswer(session, 'sample_noted', said)).question.params.messages[0].content
      t.strictSame(noted.annotations, {
        priority: 1, ...(hasForms && { lastModified: '2025-01-01T00:00:00Z' })
      })
      t.equal('_meta' in noted, hasForms)
      if (isLast) {
        t.equal((await callAndAnswer(session, 'sample_tools', said)).question.params.tools.length, 1)
      } else t.equal((await session.call('sample_tools')).result.isError, true)
      if (isLast) {
        t.equal((await callAndAnswer(session, 'sample_used', said)).question.params.messages.length, 3)
      } else t.equal((await session.call('sample_used')).result?.isError, true)
      if (revision > '2025') {
        t.equal(
          (await callAndAnswer(session, 'sample_spoken', said)).question.params.messages[0].content.type,
          'audio'
        )
      } else t.equal((await session.call('sample_spoken')).result.isError, true)
    })

    t.test('asks for roots (331)', async (t) => {
      const { question, reply } = await callAndAnswer(session, 'roots', {
        roots: [{ uri: 'file:///a', name: 'a' }]
      })
      t.equal(question.method, 'roots/list')
      t.strictSame(valueOf(reply), { roots: [{ uri: 'file:///a', name: 'a' }] })
    })

    t.test('uses a new id for each request to the client (346)', async (t) => {
      const ids = new Set<unknown>()
      for (let call = 0; call < 5; call++) {
        ids.add((await callAndAnswer(session, 'roots', { roots: [] })).question.id)
      }
      t.equal(ids.size, 5)
    })

    t.test('asks in a resource too (344)', async (t) => {
      const reply = await session.start('resources/read', { uri: 'test:roots' })
      await session.answer((await reply.next()).id, { roots: [{ uri: 'file:///a' }] })
      t.equal((await reply.ended()).result.contents[0].text, 'file:///a')
    })

    t.test('asks in a prompt too (344)', async (t) => {
      const reply = await session.start('prompts/get', { name: 'ask' })
      if (hasForms) {
        await session.answer((await reply.next()).id, { action: 'accept', content: { name: 'Ann' } })
      }
      await reply.ended()
      if (hasForms) t.equal(reply.result.messages[0].content.text, 'Hello Ann')
      else t.match(reply.error.message, /cannot ask the user/, 'says why not')
    })
  })
}
