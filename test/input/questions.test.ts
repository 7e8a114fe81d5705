// What authors may ask, and what they are told where they may not.

import t from 'tap'
import { Type } from 'typebox'
import { type } from 'arktype'
import * as v from 'valibot'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { z } from 'zod'
import {
  elicit, roots, sample, type InputRequest, type SampleOptions, type SamplingMessage
} from '../../src/authoring/input-request.ts'
import { InputRequired } from '../../src/input/round-state.ts'
import { createRounds, runRound } from './rounds.ts'

const rounds = createRounds()
const form = (properties: object, more: object = {}) => elicit.form({
  message: 'Which?', schema: { type: 'object', properties, ...more }
})
const ask = async (request: InputRequest, key = 'k') => await runRound(
  rounds, async (round) => await round.ask({ [key]: request })
)

/** The params that go on the wire. */
async function paramsOf (request: InputRequest) {
  const { pending, error } = await ask(request)
  if (!(error instanceof InputRequired)) throw error
  return pending?.inputRequests.k?.params
}

async function complaintOf (request: InputRequest): Promise<string> {
  const { error, pending } = await ask(request)
  if (pending !== undefined || !(error instanceof Error) || error instanceof InputRequired) {
    throw new Error('was asked')
  }
  return error.message
}

const ENUMS = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [{ const: 'value1', title: 'First Option' }, { const: 'value2', title: 'Second Option' }]
  },
  legacyEnum: {
    type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three']
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: {
    type: 'array',
    items: {
      anyOf: [{ const: 'value1', title: 'First Choice' }, { const: 'value2', title: 'Second Choice' }]
    }
  }
}

t.test('a form may ask for everything that the specification lets it (226)', async (t) => {
  const properties = {
    name: {
      type: 'string', title: 'Name', description: 'Yours', minLength: 1, maxLength: 50, default: 'John Doe'
    },
    email: { type: 'string', format: 'email' },
    page: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    moment: { type: 'string', format: 'date-time' },
    age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
    score: { type: 'number', default: 95.5 },
    verified: { type: 'boolean', default: true },
    ...ENUMS,
    defaultSingle: { ...ENUMS.untitledSingle, default: 'option2' },
    defaultTitled: { ...ENUMS.titledSingle, default: 'value2' },
    defaultMulti: { ...ENUMS.untitledMulti, default: ['option1', 'option3'], minItems: 1, maxItems: 2 },
    defaultTitledMulti: { ...ENUMS.titledMulti, default: [] }
  }
  t.same(await paramsOf(form(properties, { required: ['name', 'age'] })), {
    mode: 'form',
    message: 'Which?',
    requestedSchema: { type: 'object', properties, required: ['name', 'age'] }
  })
})

t.test('a form goes out without what only its checking needs (226)', async (t) => {
  const properties = { a: { type: 'string' } }
  t.same(
    (
      await paramsOf(
        form(properties, {
          $schema: 'https://json-schema.org/draft/2020-12/schema', additionalProperties: false
        })
      )
    )?.requestedSchema,
    { type: 'object', properties }
  )
})

const REFUSED: ReadonlyArray<readonly [claim: string, request: InputRequest, complaint: RegExp]> = [
  [
    'an object in an object', form({ a: { type: 'object', properties: {} } }),
    /^ask, "k": schema: properties\.a\.type: must be string, number, integer, boolean, or array/
  ],
  ['a field of any type', form({ a: {} }), /properties\.a\.type: must be .*got nothing/],
  ['a field of two types', form({ a: { type: ['string', 'null'] } }), /properties\.a\.type: must be/],
  ['a field that is true', form({ a: true }), /properties\.a: must be object, got true/],
  [
    'a reference', form({ a: { $ref: '#/$defs/x' } }, { $defs: { x: { type: 'string' } } }),
    /\$defs: is not known here/
  ],
  ['an array of anything', form({ a: { type: 'array' } }), /properties\.a\.items: is required/],
  [
    'an array of strings', form({ a: { type: 'array', items: { type: 'string' } } }),
    /items\.enum: is required/
  ],
  [
    'an array of numbers', form({ a: { type: 'array', items: { type: 'number', enum: [1] } } }),
    /properties\.a\.items\.type: must be "string"/
  ],
  [
    'a choice of numbers', form({ a: { type: 'number', enum: [1, 2] } }),
    /properties\.a\.enum: is not known here/
  ],
  [
    'a choice of mixed values', form({ a: { type: 'string', enum: ['a', 1] } }),
    /properties\.a\.enum\[1\]: must be string, got 1/
  ],
  ['a choice of nothing', form({ a: { type: 'string', enum: [] } }), /properties\.a\.enum:/],
  [
    'a choice that is offered twice',
    form({ a: { type: 'string', oneOf: [{ const: 'x', title: 'A' }, { const: 'x', title: 'B' }] } }),
    /properties\.a: offers the same choice twice/
  ],
  [
    'a choice without its title', form({ a: { type: 'string', oneOf: [{ const: 'x' }] } }),
    /properties\.a\.oneOf\[0\]\.title: is required/
  ],
  [
    'fewer names than choices', form({ a: { ...ENUMS.legacyEnum, enumNames: ['One'] } }),
    /properties\.a\.enumNames: must have as many names/
  ],
  [
    'another format', form({ a: { type: 'string', format: 'uuid' } }),
    /properties\.a\.format: must be one of \["email","uri","date","date-time"\], got "uuid"/
  ],
  ['a password', form({ a: { type: 'string', format: 'password' } }), /properties\.a\.format/],
  ['a pattern', form({ a: { type: 'string', pattern: '^a' } }), /properties\.a\.pattern: is not known here/],
  [
    'an exclusive bound', form({ a: { type: 'number', exclusiveMinimum: 0 } }),
    /exclusiveMinimum: is not known here/
  ],
  [
    'a default of another type', form({ a: { type: 'string', default: 1 } }),
    /properties\.a\.default: must be string, got 1/
  ],
  [
    'a fraction as the default of an integer', form({ a: { type: 'integer', default: 1.5 } }),
    /properties\.a\.default: must be integer/
  ],
  [
    'a text as the default of a boolean', form({ a: { type: 'boolean', default: 'yes' } }),
    /properties\.a\.default: must be boolean/
  ],
  [
    'a default that is no choice', form({ a: { ...ENUMS.untitledSingle, default: 'x' } }),
    /properties\.a\.default: "x" is not one of the choices/
  ],
  [
    'a titled default that is no choice', form({ a: { ...ENUMS.titledSingle, default: 'First Option' } }),
    /properties\.a\.default: "First Option" is not one of the choices/
  ],
  [
    'a default choice that is no list', form({ a: { ...ENUMS.untitledMulti, default: 'option1' } }),
    /properties\.a\.default: must be array/
  ],
  [
    'default choices of which one is none', form({ a: { ...ENUMS.titledMulti, default: ['value1', 'x'] } }),
    /properties\.a\.default: "x" is not one of the choices/
  ],
  ['a bound below zero', form({ a: { type: 'string', minLength: -1 } }), /properties\.a\.minLength/],
  [
    'bounds that exclude each other', form({ a: { type: 'string', minLength: 2, maxLength: 1 } }),
    /properties\.a\.minLength: must not be greater than maxLength/
  ],
  [
    'a required field that there is not', form({ a: { type: 'string' } }, { required: ['b'] }),
    /required: names "b", which is not among the properties/
  ],
  [
    'a required field named as a member of every object', form({}, { required: ['toString'] }),
    /required: names "toString"/
  ],
  [
    'further properties with a schema of their own', form({}, { additionalProperties: { type: 'string' } }),
    /additionalProperties: is not known here/
  ],
  [
    'a schema that is no object schema', elicit.form({ message: 'm', schema: { type: 'string' } }),
    /type: must be "object", got "string"/
  ],
  [
    'a schema without properties', elicit.form({ message: 'm', schema: { type: 'object' } }),
    /properties: is required/
  ],
  [
    'a schema that is no object', elicit.form({ message: 'm', schema: [] }),
    /schema: must be a JSON Schema object/
  ],
  [
    'a schema that is part of itself', elicit.form({ message: 'm', schema: circular() }),
    /schema: is not JSON/
  ],
  [
    'a schema of too many fields',
    form(Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}`, { type: 'string' }]))),
    /501 keys/
  ],
  [
    'a form without a message', elicit.form({ message: '', schema: { type: 'object', properties: {} } }),
    /^ask, "k": message: must be a text/
  ],
  [
    'a form whose message is blank',
    elicit.form({ message: ' \n', schema: { type: 'object', properties: {} } }), /message: must be a text/
  ]
]

function circular (): object {
  const schema: { [key: string]: unknown } = { type: 'object' }
  schema.properties = { schema }
  return schema
}

for (const [claim, request, complaint] of REFUSED) {
  t.test(`the author is told at the call that a form cannot have ${claim} (226, 227)`, async (t) => {
    t.match(await complaintOf(request), complaint)
  })
}

t.test('every complaint about all the questions of a call is made at once', async (t) => {
  const { error } = await runRound(
    rounds,
    async (round) => await round.ask({
      a: form({ x: {}, y: { type: 'string', format: 'x' } }), b: elicit.url({ message: '', url: 'x' })
    })
  )
  t.ok(error instanceof Error)
  for (const part of [
    'ask, "a": schema: properties.x', 'ask, "a": schema: properties.y.format', 'ask, "b": message',
    'ask, "b": url'
  ]) {
    t.match(error, { message: part })
  }
})

t.test('a question has a key, and is made by one of the four functions (211)', async (t) => {
  t.match((await ask(roots(), '')).error, { message: /^ask, "": a key must not be empty/ })
  for (const wrong of [undefined, null, 1, 'x', {}, { kind: 'toString', params: {} }, { kind: 'form' }]) {
    // @ts-expect-error: authors may write without types
    t.match(await complaintOf(wrong), /must be made by elicit\.form, elicit\.url, sample or roots/)
  }
  for (const wrong of [undefined, null, [roots()]]) {
    // @ts-expect-error: authors may write without types
    t.match((await runRound(rounds, async (round) => await round.ask(wrong))).error, {
      message: /ask: takes an object/
    })
  }
})

t.test('a schema of a library goes out as the form that it makes, and without what a form cannot say ' +
  '(226)', async (t) => {
  const schemas: ReadonlyArray<readonly [
    library: string, schema: object, properties: object, required: readonly string[]
  ]> = [
    ['Zod', z.object({
      email: z.email(),
      n: z.int().positive().max(9).default(3),
      size: z.enum(['s', 'm']),
      tags: z.array(z.enum(['p', 'q'])).min(1),
      only: z.literal('x'),
      ok: z.boolean().optional()
    }),
    {
      email: { type: 'string', format: 'email' },
      n: { type: 'integer', maximum: 9, default: 3 },
      size: { type: 'string', enum: ['s', 'm'] },
      tags: { type: 'array', minItems: 1, items: { type: 'string', enum: ['p', 'q'] } },
      only: { type: 'string', enum: ['x'] },
      ok: { type: 'boolean' }
    }, ['email', 'size', 'tags', 'only']],
    ['Valibot', toStandardJsonSchema(
      v.object({ name: v.pipe(v.string(), v.minLength(2)), size: v.picklist(['s', 'm']) })
    ),
    { name: { type: 'string', minLength: 2 }, size: { type: 'string', enum: ['s', 'm'] } }, [
      'name', 'size'
    ]],
    [
      'ArkType', type({ name: 'string', 'size?': "'s' | 'm'" }),
      { name: { type: 'string' }, size: { type: 'string', enum: ['m', 's'] } }, ['name']
    ],
    ['TypeBox', Type.Object({
      name: Type.String(), size: Type.Optional(Type.Enum(['s', 'm'])), only: Type.Literal('x')
    }),
    {
      name: { type: 'string' },
      size: { type: 'string', enum: ['s', 'm'] },
      only: { type: 'string', enum: ['x'] }
    }, ['name', 'only']]
  ]
  for (const [library, schema, properties, required] of schemas) {
    const params = await paramsOf(elicit.form({ message: 'm', schema }))
    t.same(
      params,
      {
        mode: 'form',
        message: 'm',
        requestedSchema: { type: 'object', properties: sortChoices(params, properties), required }
      },
      library
    )
  }
})

/** ArkType orders its choices as it likes. */
function sortChoices (params: unknown, properties: object): object {
  const sent = JSON.stringify(params)
  return sent.includes('["s","m"]')
    ? JSON.parse(JSON.stringify(properties).replace('["m","s"]', '["s","m"]'))
    : properties
}

t.test('a schema of a library that makes no form is refused as any other is (226)', async (t) => {
  t.match(
    await complaintOf(elicit.form({ message: 'm', schema: z.object({ a: z.object({}) }) })),
    /properties\.a\.type: must be string/
  )
  t.match(
    await complaintOf(elicit.form({ message: 'm', schema: z.object({ a: z.string().nullable() }) })),
    /properties\.a\.type: must be string/
  )
  t.match(
    await complaintOf(elicit.form({ message: 'm', schema: z.object({ a: z.uuid() }) })),
    /properties\.a\.format: must be one of/
  )
  t.match(
    await complaintOf(elicit.form({ message: 'm', schema: z.object({ a: z.date() }) })),
    /the zod schema has no JSON Schema/
  )
  t.match(await complaintOf(elicit.form({ message: 'm', schema: z.string() })), /type: must be "object"/)
})

t.test('a URL is sent as it was written, with its mode and its message and nothing else (228)', async (t) => {
  for (const url of ['https://example.com/pay?id=1#top', 'http://localhost:3000', 'HTTPS://example.com/']) {
    t.same(await paramsOf(elicit.url({ message: 'Pay here', url })), {
      mode: 'url', message: 'Pay here', url
    })
  }
})

t.test('a URL is absolute, of http or https, and carries no credentials (228, 229)', async (t) => {
  for (const url of [
    '', '/pay', 'example.com', '//example.com', 'ftp://example.com', 'javascript:alert(1)',
    'https:example.com', 'https://exa mple.com', ' https://example.com', 'file:///x'
  ]) {
    t.match(
      await complaintOf(elicit.url({ message: 'm', url })),
      /^ask, "k": url: must be an absolute http or https URL, got "/, url
    )
  }
  t.match(
    await complaintOf(elicit.url({ message: 'm', url: 'https://user:secret@example.com' })),
    /url: must not have a user name or password/
  )
  t.match(
    await complaintOf(elicit.url({ message: '', url: 'https://example.com' })), /message: must be a text/
  )
})

const text = (role: 'user' | 'assistant', words = 'Hello') => ({
  role, content: { type: 'text', text: words }
})
const use = (...ids: string[]): SamplingMessage => ({
  role: 'assistant',
  content: [
    { type: 'text', text: 'So' }, ...ids.map((id) => ({ type: 'tool_use', id, name: 'add', input: {} }))
  ]
})
const result = (...ids: string[]): SamplingMessage => ({
  role: 'user',
  content: ids.map(
    (toolUseId) => ({ type: 'tool_result', toolUseId, content: [{ type: 'text', text: '3' }] })
  )
})
const talk = (...messages: SamplingMessage[]) => sample({ messages, maxTokens: 10 })

t.test('a sampling request is sent as it was written (232)', async (t) => {
  const full: SampleOptions = {
    messages: [text('user'), text('assistant'), use('1', '2'), result('2', '1'), text('user')],
    maxTokens: 100,
    systemPrompt: 'Be brief.',
    temperature: 0.2,
    stopSequences: ['END'],
    modelPreferences: {
      hints: [{ name: 'claude' }], costPriority: 0, speedPriority: 1, intelligencePriority: 0.5
    },
    includeContext: 'thisServer',
    tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }],
    toolChoice: { mode: 'required' },
    metadata: { any: [1] }
  }
  t.same(await paramsOf(sample(full)), full)
  t.same(await paramsOf(talk(text('user'))), { messages: [text('user')], maxTokens: 10 })
  t.same(
    await paramsOf(
      sample({
        ...full, messages: [{ role: 'user', content: { type: 'image', data: 'AA==', mimeType: 'image/png' } }]
      })
    ),
    { ...full, messages: [{ role: 'user', content: { type: 'image', data: 'AA==', mimeType: 'image/png' } }] }
  )
})

const BAD_SAMPLES: ReadonlyArray<readonly [claim: string, request: InputRequest, complaint: RegExp]> = [
  // @ts-expect-error: authors may write without types
  ['maxTokens', sample({ messages: [text('user')] }), /^ask, "k": maxTokens: is required/],
  ['a positive maxTokens', sample({ messages: [text('user')], maxTokens: 0 }), /maxTokens/],
  ['a whole maxTokens', sample({ messages: [text('user')], maxTokens: 1.5 }), /maxTokens: must be integer/],
  ['messages', talk(), /messages/],
  [
    // @ts-expect-error: authors may write without types
    'a role for each message', talk({ role: 'system', content: { type: 'text', text: 'x' } }),
    /messages\[0\]\.role: must be one of/
  ],
  ['content of a known type', talk({ role: 'user', content: 'x' }), /messages\[0\]\.content/],
  [
    // @ts-expect-error: authors may write without types
    'only what the specification knows', sample({ messages: [text('user')], maxTokens: 1, model: 'x' }),
    /model: is not known here/
  ],
  [
    'finite numbers', sample({ messages: [text('user')], maxTokens: 1, temperature: Infinity }), /temperature/
  ],
  [
    'JSON', sample({ messages: [text('user')], maxTokens: 1, metadata: { at: new Date() } }),
    /must be JSON, but it\.metadata\.at is an instance of Date/
  ],
  [
    'a tool choice that there is',
    sample({ messages: [text('user')], maxTokens: 1, toolChoice: { mode: 'all' } }), /toolChoice\.mode/
  ],
  [
    'the results of the tools it used', talk(use('1'), text('user')),
    /messages\[1\]: must hold the results of the tool uses before it, "1", got none/
  ],
  [
    'all results of the tools it used', talk(use('1', '2'), result('1')),
    /messages\[1\]: must hold the results of the tool uses before it, "1", "2", got "1"/
  ],
  ['only results of tools it used', talk(use('1'), result('1', '2')), /messages\[1\]: must hold/],
  ['each result once', talk(use('1', '2'), result('1', '1')), /messages\[1\]: must hold/],
  [
    'results that follow a use', talk(text('user'), result('1')),
    /messages\[1\]: must hold the results of the tool uses before it, none, got "1"/
  ],
  ['results that follow at once', talk(use('1'), text('assistant'), result('1')), /messages\[1\]: must hold/],
  [
    'results in a message of their own',
    talk(use('1'), {
      role: 'user',
      content: [{ type: 'tool_result', toolUseId: '1', content: [] }, { type: 'text', text: 'x' }]
    }),
    /messages\[1\]: tool results are a user message of their own/
  ],
  [
    'results from the user', talk(use('1'), { ...result('1'), role: 'assistant' }),
    /messages\[1\]: tool results are a user message/
  ],
  [
    'uses by the assistant', talk({ ...use('1'), role: 'user' }, result('1')),
    /messages\[0\]: only the assistant uses tools/
  ],
  [
    'an end that is answered', talk(text('user'), use('1')),
    /messages: end with the tool uses "1"; their results must follow/
  ]
]

for (const [claim, request, complaint] of BAD_SAMPLES) {
  t.test(`the author is told at the call that a sampling request needs ${claim} (232)`, async (t) => {
    t.match(await complaintOf(request), complaint)
  })
}

t.test('roots are asked for without params (211)', async (t) => {
  t.same((await ask(roots())).pending, { inputRequests: { k: { method: 'roots/list', params: {} } } })
})

t.test('more schemas than are kept can be asked for, and each checks its own answers (225)', async (t) => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 300; index++) {
      const request = form({ n: { type: 'integer', minimum: index, maximum: index } }, { required: ['n'] })
      const answered = await runRound(rounds, async (round) => await round.ask({ k: request }), {
        inputResponses: { k: { action: 'accept', content: { n: index } } }
      })
      const refused = await runRound(rounds, async (round) => await round.ask({ k: request }), {
        inputResponses: { k: { action: 'accept', content: { n: index + 1 } } }
      })
      if (answered.value === undefined || refused.pending === undefined) t.fail(`schema ${index}`)
    }
  }
})
