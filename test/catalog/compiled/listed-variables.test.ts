// What the `list` of a template says of its resources: an entry that nobody could read is a problem.

import t from 'tap'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import { CatalogError } from '../../../src/catalog/compiled/problem.ts'
import { defineResourceTemplate } from '../../../src/index.ts'
import { EMPTY_CONTENTS } from '../../helpers/empty-contents.ts'

async function compile (uriTemplate: string, entries: readonly object[]) {
  const list = () => entries.map((entry, index) => ({ name: String(index), ...entry })) as never
  const definition = defineResourceTemplate({ uriTemplate, name: 'notes', list, read: () => '' })
  const contents = {
    ...EMPTY_CONTENTS,
    templates: [{ definition, file: 'resources/a.resource.ts', place: 'notes' }]
  }
  return await new CatalogCompiler({ pageSize: 10 }).compile(contents)
}

/** The place and the rule of each problem. */
async function problemsOf (uriTemplate: string, entries: readonly object[]) {
  const error: unknown = await compile(uriTemplate, entries).catch((reason: unknown) => reason)
  return error instanceof CatalogError ? error.problems.map(({ place, rule }) => [place, rule]) : error
}

for (const [claim, template, entry, within, rule] of [
  ['a number', 'note://{kind}/{id}', { variables: { kind: 'a', id: 1 } }, '.id', 'must be a string, got 1'],
  ['null', 'note://{kind}/{id}', { variables: { kind: 'a', id: null } }, '.id', 'must be a string, got null'],
  [
    'a Date', 'note://{kind}/{id}', { variables: { kind: 'a', id: new Date(0) } }, '.id',
    'must be a string, got "1970-01-01T00:00:00.000Z"'
  ],
  [
    'a list of a variable that is not exploded', 'note://{kind}/{id}', { variables: { kind: 'a', id: ['1'] } },
    '.id', 'must be a string, got ["1"]'
  ],
  [
    'a number in a list', 'note:{/path*}', { variables: { path: ['a', 1] } }, '.path',
    'must be a list of strings, got ["a",1]'
  ],
  [
    'a variable that the template lacks', 'note://{kind}/{id}',
    { variables: { kind: 'a', id: '1', page: '2' } }, '.page', 'names no variable of the uriTemplate'
  ],
  [
    'a variable that is left out but required', 'note://{kind}/{id}', { variables: { kind: 'a' } }, '',
    'make "note://a/", which is no URI of the template note://{kind}/{id}'
  ],
  [
    'a value that is read as two', 'note:a{.id,page}', { variables: { id: '1.2' } }, '.id',
    'cannot be "1.2": the template reads "1" from "note:a.1.2"'
  ],
  [
    'half of a surrogate pair', 'note://{kind}/{id}', { variables: { kind: 'a', id: '\ud83d' } }, '',
    'must be well-formed text: half of a surrogate pair has no encoding'
  ]
] as const) {
  t.test(`${claim} is a problem of its entry and its variable`, async (t) => {
    t.strictSame(await problemsOf(template, [entry]), [[`notes.list()[0].variables${within}`, rule]])
  })
}

t.test('a URI that the template does not match is a problem of its entry', async (t) => {
  t.strictSame(await problemsOf('note://{id}', [{ uri: 'note://1' }, { uri: 'other://1' }, { uri: 'note:1' }]), [
    ['notes.list()[1].uri', 'must be a URI of the template note://{id}, got "other://1"'],
    ['notes.list()[2].uri', 'must be a URI of the template note://{id}, got "note:1"']
  ])
})

t.test('each variable of an entry has a problem of its own', async (t) => {
  t.strictSame(await problemsOf('note://{kind}/{id}', [{ variables: { kind: 1, id: true, x: '' } }]), [
    ['notes.list()[0].variables.kind', 'must be a string, got 1'],
    ['notes.list()[0].variables.id', 'must be a string, got true'],
    ['notes.list()[0].variables.x', 'names no variable of the uriTemplate']
  ])
})

t.test('takes the variables that a read gets: some are undefined, some are lists (150, 153)', async (t) => {
  const { primitives } = await compile('note://{kind}{/path*}{?page,tag}', [
    { variables: { kind: 'a' } },
    { variables: { kind: 'a', path: undefined, page: undefined, tag: 'ü' } },
    { variables: { kind: 'a', path: ['b', 'c d'], page: '2' } },
    { variables: { kind: 'a', path: 'b' } }
  ])
  t.strictSame(primitives.listed.map(({ key }) => key), [
    'note://a', 'note://a/b', 'note://a/b/c%20d?page=2', 'note://a?tag=%C3%BC'
  ])
})

t.test('a prefix of a value has as many characters as the template shows', async (t) => {
  const { primitives } = await compile('note://{id:2}', [{ variables: { id: 'abc' } }])
  t.strictSame(primitives.listed.map(({ key }) => key), ['note://ab'])
})
