import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'

/** The text of a module of prompts. The values are the source text of further members. */
function promptsModule (prompts: { readonly [name: string]: string }): string {
  const definitions = Object.entries(prompts).map(
    ([
      name, members
    ]) => `export const ${name} = definePrompt({ name: '${name}', description: 'A ${name}.', ${members} })`
  )
  return ["import { definePrompt } from 'trivet'", ...definitions].join('\n')
}

const get = (name: string, args?: object) => ({
  method: 'prompts/get', params: { name, ...(args === undefined ? {} : { arguments: args }) }
})

t.test('a string is one message of the user, messages are sent unchanged (169, 170)', async (t) => {
  const messages = [
    { role: 'user', content: { type: 'text', text: 'a' } },
    { role: 'assistant', content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } },
    { role: 'user', content: { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' } },
    { role: 'user', content: { type: 'resource_link', uri: 'file:///a.md', name: 'a' } },
    {
      role: 'user',
      content: {
        type: 'resource',
        resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: 'a' },
        annotations: { priority: 1 }
      }
    }
  ]
  const app = await buildApp(t, {
    'prompts/p.ts': promptsModule({
      text: "render: () => 'Say hello.'",
      later: "render: async () => 'Say hello.'",
      list: `render: () => (${JSON.stringify(messages)})`,
      whole: `render: () => (${JSON.stringify({ description: 'Made for you.', messages })})`
    })
  })
  const resultOf = async (name: string) => {
    const { status, response: { result: { _meta, ...result } } } = await send(app, get(name))
    t.equal(status, 200)
    return result
  }
  for (const name of ['text', 'later']) {
    t.strictSame(await resultOf(name), {
      resultType: 'complete',
      description: `A ${name}.`,
      messages: [{ role: 'user', content: { type: 'text', text: 'Say hello.' } }]
    })
  }
  t.strictSame(await resultOf('list'), { resultType: 'complete', description: 'A list.', messages })
  t.strictSame(await resultOf('whole'), { resultType: 'complete', description: 'Made for you.', messages })
})

t.test('fills the arguments into a Markdown prompt, once and unchanged (168, 171)', async (t) => {
  const app = await buildApp(t, {
    'prompts/greet.md': '---\ndescription: Greets.\narguments:\n  - name: who\n    required: true\n  - ' +
      'name: tone\n---\nGreet {{who}}, {{ tone }}.\n<!-- assistant -->\nHello {{who}}!\n'
  })
  const textsOf = async (args: object) => (await send(app, get('greet', args))).response.result.messages.map(
    ({ role, content }: { role: string, content: { text: string } }) => [role, content.text]
  )
  t.strictSame(await textsOf({ who: 'Ann', tone: 'warmly' }), [
    ['user', 'Greet Ann, warmly.'], ['assistant', 'Hello Ann!']
  ])
  t.strictSame(await textsOf({ who: '{{tone}} $& $1\n<!-- assistant -->', tone: '{{who}}' }),
    [
      ['user', 'Greet {{tone}} $& $1\n<!-- assistant -->, {{who}}.'],
      ['assistant', 'Hello {{tone}} $& $1\n<!-- assistant -->!']
    ],
    'what a value holds is never read again')
  t.strictSame((await textsOf({ who: 'Ann' }))[0], ['user', 'Greet Ann, .'], 'what may be missing is empty')
})

t.test('an unknown prompt and wrong arguments are invalid params (167, 168)', async (t) => {
  const app = await buildApp(t, {
    'prompts/p.ts': promptsModule({
      order: "arguments: [{ name: 'size', required: true }, { name: 'colour', required: true }, { name: " +
        "'note' }], render: (args) => JSON.stringify(args)"
    })
  })
  for (const [params, message] of [
    [{ name: 'none' }, 'unknown prompt "none"'],
    [{ name: 'constructor' }, 'unknown prompt "constructor"'],
    [{ name: 'order' }, 'the prompt "order" needs the argument size, colour'],
    [{ name: 'order', arguments: {} }, 'the prompt "order" needs the argument size, colour'],
    [{ name: 'order', arguments: { size: 'S' } }, 'the prompt "order" needs the argument colour'],
    [
      { name: 'order', arguments: { size: 'S', colour: 'red', shape: 'round' } },
      'the prompt "order" has no argument "shape"'
    ],
    [
      { name: 'order', arguments: { size: 'S', colour: 'red', note: 1 } },
      /^arguments\.note: must be string, got 1/
    ],
    [{ name: 'order', arguments: ['S'] }, /^arguments: must be object/],
    [{}, /^name: is required/]
  ] as const) {
    const { status, response } = await send(app, { method: 'prompts/get', params })
    t.equal(status, 200)
    t.equal(response.error.code, -32602)
    t.match(response.error.message.replace('Invalid params: ', ''), message)
  }
  const { response } = await send(app, get('order', { size: '', colour: 'red' }))
  t.equal(
    response.result.messages[0].content.text, '{"size":"","colour":"red"}',
    'an empty argument is there, and an absent one is not'
  )
})

t.test('a prompt that throws, or returns no messages, is an internal error (167)', async (t) => {
  const log = createReadableLog()
  const failing = {
    fails: "render: () => { throw new Error('hunter2') }",
    fails_later: "render: async () => { throw new Error('hunter2') }",
    wrong_role: "render: () => [{ role: 'hunter2', content: { type: 'text', text: 'a' } }]",
    wrong_content: "render: () => [{ role: 'user', content: 'hunter2' }]",
    number: 'render: () => 1',
    nothing: 'render: () => undefined'
  }
  const app = await buildApp(t, { 'prompts/p.ts': promptsModule(failing) }, { logger: log.logger })
  for (const name of Object.keys(failing)) {
    const { status, response } = await send(app, get(name))
    t.equal(status, 200)
    t.match(response.error, { code: -32603, message: 'Internal error', data: { requestId: String } }, name)
    t.ok(
      log.lines.some(({ name: subject, err }) => subject === name && err !== undefined),
      `the log says why ${name} failed`
    )
  }
})
