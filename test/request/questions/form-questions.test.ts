import t from 'tap'
import { elicit, type InputRequest } from '../../../src/platform/author/input-request.ts'
import { form, paramsOf, problemOf, rounds } from './asking.ts'
import { runRound } from './rounds.ts'

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

t.test('a form may have every kind of field of the specification (226)', async (t) => {
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

t.test('a form is sent without $schema and additionalProperties (226)', async (t) => {
  const properties = { a: { type: 'string' } }
  const sent = await paramsOf(form(properties, {
    $schema: 'https://json-schema.org/draft/2020-12/schema', additionalProperties: false
  }))
  t.same(sent?.requestedSchema, { type: 'object', properties })
})

t.test('halves of characters in names and choices become what clients can repeat', async (t) => {
  const request = form({ 'a\ud83d': { type: 'string', enum: ['b\udc00'] } })
  t.strictSame(await paramsOf(request), {
    mode: 'form',
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { 'a\ufffd': { type: 'string', enum: ['b\ufffd'] } } }
  })
})

const REFUSED: ReadonlyArray<readonly [claim: string, request: InputRequest, problem: RegExp]> = [
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
    'a default that is not a choice', form({ a: { ...ENUMS.untitledSingle, default: 'x' } }),
    /properties\.a\.default: "x" is not one of the choices/
  ],
  [
    'a titled default that is not a choice', form({ a: { ...ENUMS.titledSingle, default: 'First Option' } }),
    /properties\.a\.default: "First Option" is not one of the choices/
  ],
  [
    'a default choice that is not a list', form({ a: { ...ENUMS.untitledMulti, default: 'option1' } }),
    /properties\.a\.default: must be array/
  ],
  [
    'a list of defaults of which one is not a choice',
    form({ a: { ...ENUMS.titledMulti, default: ['value1', 'x'] } }),
    /properties\.a\.default: "x" is not one of the choices/
  ],
  ['a bound below zero', form({ a: { type: 'string', minLength: -1 } }), /properties\.a\.minLength/],
  [
    'bounds that exclude each other', form({ a: { type: 'string', minLength: 2, maxLength: 1 } }),
    /properties\.a\.minLength: must not be greater than maxLength/
  ],
  [
    'a required field that does not exist', form({ a: { type: 'string' } }, { required: ['b'] }),
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
    'a schema of a string', elicit.form({ message: 'm', schema: { type: 'string' } }),
    /type: must be "object", got "string"/
  ],
  [
    'a schema without properties', elicit.form({ message: 'm', schema: { type: 'object' } }),
    /properties: is required/
  ],
  [
    'a schema that is a list', elicit.form({ message: 'm', schema: [] }),
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

for (const [claim, request, problem] of REFUSED) {
  t.test(`ask rejects a form with ${claim} (226, 227)`, async (t) => {
    t.match(await problemOf(request), problem)
  })
}

t.test('more schemas than the limit can be asked, and each checks its own answers (225)', async (t) => {
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
