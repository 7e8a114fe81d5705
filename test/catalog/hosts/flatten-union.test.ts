// Input schemas with a choice at the top, listed as one object.

import t from 'tap'
import { flattenUnion } from '../../../src/catalog/hosts/flatten-union.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { runProgram } from '../../helpers/program.ts'
import { send } from '../../helpers/request.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const flatten = (schema: object) => {
  const { json, words } = flattenUnion(JSON.stringify({ type: 'object', ...schema }))
  return [JSON.parse(json), words]
}

t.test('the object has the properties of all branches, and requires what each of them requires', (t) => {
  t.strictSame(flatten({
    properties: { note: text },
    required: ['note'],
    oneOf: [
      {
        title: 'A file',
        properties: { kind: { type: 'string', const: 'file' }, path: text },
        required: ['kind', 'path']
      },
      {
        properties: { kind: { type: 'string', const: 'url' }, url: text, path: number },
        required: ['url', 'kind']
      }
    ]
  }), [{
    type: 'object',
    properties: {
      note: text, kind: { type: 'string', enum: ['file', 'url'] }, path: { anyOf: [text, number] }, url: text
    },
    required: ['note', 'kind']
  }, 'Give the arguments of exactly one of these: A file (kind "file", path); ' +
    'url, kind "url", optionally path.'])
  t.end()
})

t.test('parts of allOf hold together, and choices within them are in words too', (t) => {
  t.strictSame(flatten({
    properties: { phone: text, email: text, a: text },
    allOf: [
      { anyOf: [{ required: ['phone'] }, { required: ['email'] }] },
      { properties: { a: { maxLength: 3 } }, required: ['a'] }
    ],
    additionalProperties: false
  }), [{
    type: 'object',
    properties: { phone: text, email: text, a: { ...text, allOf: [{ maxLength: 3 }] } },
    additionalProperties: false,
    required: ['a']
  }, 'Give the arguments of at least one of these: phone; email.'])
  t.end()
})

t.test('what cannot be sent is not listed, and what can is not required', (t) => {
  const closed = { properties: { a: text }, additionalProperties: false }
  t.strictSame(flatten({ ...closed, anyOf: [{ properties: { b: text } }, {}] }), [
    { type: 'object', ...closed },
    'Give the arguments of at least one of these: optionally b; nothing more.'
  ])
  const [open] = flatten({ anyOf: [{ properties: { a: text }, required: ['a'] }, true, false] })
  t.strictSame(open, { type: 'object', properties: { a: text } })
  const [same] = flatten({
    oneOf: [{ properties: { a: text, b: true } }, { properties: { a: text, b: { enum: [1] } } }]
  })
  t.strictSame(same.properties, { a: text, b: { anyOf: [true, { enum: [1] }] } })
  t.end()
})

t.test('what a branch does not name is not narrowed, and no keyword forbids what is left out', (t) => {
  const [schema] = flatten({
    anyOf: [{ properties: { mode: { type: 'string', const: 'a' } } }, { properties: { x: text } }],
    unevaluatedProperties: false
  })
  t.strictSame(schema, { type: 'object', properties: { mode: text, x: text } })
  t.end()
})

t.test('a schema without a choice, or with one that refers to a cycle, stays as it is', (t) => {
  const cycle = { items: { $ref: '#/$defs/a' } }
  for (const schema of [
    { properties: { a: text } }, { anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: cycle } },
    { anyOf: [{ allOf: [{ $ref: '#/$defs/a' }] }, { properties: { a: text } }], $defs: { a: cycle } }
  ]) {
    t.strictSame(flatten(schema), [{ type: 'object', ...schema }, ''])
  }
  t.end()
})

t.test('the deepest and the widest choice take milliseconds', (t) => {
  let nested: object = { required: ['a'] }
  for (let depth = 0; depth < 31; depth++) nested = { anyOf: [nested, { properties: { b: text } }] }
  const values = Array.from({ length: 1500 }, (_, value) => value)
  const wide = { oneOf: values.map((value) => ({ properties: { a: { const: value } } })) }
  for (const schema of [nested, wide]) {
    const before = process.cpuUsage()
    flatten(schema)
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < 100_000, `${user + system} µs`)
  }
  t.end()
})

const CLOSED = { additionalProperties: false }
const SCHEMA = {
  type: 'object',
  oneOf: [{ $ref: '#/$defs/byId' }, { properties: { name: text }, required: ['name'], ...CLOSED }],
  $defs: { byId: { properties: { id: number }, required: ['id'], ...CLOSED } }
}
const files = (more = ''): Files => ({
  'tools/find.ts': toolModule(
    'find', `inputSchema: ${JSON.stringify(SCHEMA)}${more}`, '(args) => JSON.stringify(args)'
  )
})

t.test('a tool says so: its list has one object, and its calls are checked by the choice', async (t) => {
  const app = await buildApp(t, files(', flattenUnion: true'))
  const [tool] = (await send(app, { method: 'tools/list' })).response.result.tools
  t.strictSame(tool.inputSchema, { type: 'object', properties: { id: number, name: text } })
  t.equal(tool.description, 'A tool.\n\nGive the arguments of exactly one of these: id; name.')
  const call = async (args: object) => (
    await send(app, { method: 'tools/call', params: { name: 'find', arguments: args } })
  ).response.result
  t.match(await call({ id: 1 }), { content: [{ text: '{"id":1}' }] })
  t.match(await call({ id: 1, name: 'a' }), { isError: true })
})

t.test('check advises it where a tool says nothing of it', async (t) => {
  const adviceOf = async (more: string) => {
    const { out } = await runProgram(['check', await writeCatalog(t, files(more)), '--json'])
    return JSON.parse(out).advice.filter(({ name }: { name: string }) => name === 'union')
      .map(({ place, rule }: { place: string, rule: string }) => `${place} ${rule}`)
  }
  t.match(await adviceOf(''), [/inputSchema\.oneOf is a choice at the top .* set flattenUnion to true/])
  t.strictSame(await adviceOf(', flattenUnion: true'), [])
  t.strictSame(await adviceOf(', flattenUnion: false'), [])
})

t.test('a wrong value is a problem', async (t) => {
  t.match(await problemsOf(t, files(", flattenUnion: 'yes'")), [{ rule: /^flattenUnion: must be boolean/ }])
})
