import t from 'tap'
import type { ScopeDefinition } from '../../../src/catalog/compiled/contents.ts'
import { compileHierarchy, holdsScope } from '../../../src/catalog/compiled/scopes/scope-hierarchy.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { loadSnapshot, problemsOf } from '../../helpers/load-catalog.ts'
import { moduleOf, scopesOf } from './scoped-catalog.ts'

function compile (definitions: readonly ScopeDefinition[]) {
  const problems: string[] = []
  const scopes = definitions.map((definition, index) => ({ definition, file: 'f', place: String(index) }))
  const hierarchy = compileHierarchy(scopes, ({ place }) => (within, rule) => {
    problems.push(`${place}.${within}: ${rule}`)
  })
  return { hierarchy, problems }
}

t.test('a scope includes others, directly and through others (269)', async (t) => {
  const { hierarchy, problems } = compile([
    { name: 'admin', includes: ['mail:write', 'x'] },
    { name: 'mail:write', includes: ['mail:read'] },
    { name: 'mail:read' }
  ])
  t.strictSame(problems, [])
  const held = (scopes: string) => ['admin', 'mail:write', 'mail:read', 'x', 'y'].filter(
    (scope) => holdsScope(scopesOf(scopes), scope, hierarchy)
  ).join(' ')
  t.equal(held('admin'), 'admin mail:write mail:read x')
  t.equal(held('mail:write'), 'mail:write mail:read')
  t.equal(held('mail:read y'), 'mail:read y')
  t.equal(held('Admin mail'), '')
})

t.test('reports what cannot be a hierarchy', async (t) => {
  const circle = [{ name: 'a', includes: ['b'] }, { name: 'b', includes: ['a'] }, { name: 'c' }]
  t.strictSame(compile(circle).problems, [
    '0.includes: the scope "a" includes itself', '1.includes: the scope "b" includes itself'
  ])
  t.strictSame(compile([{ name: 'a', includes: ['a'] }, { name: 'a' }]).problems, [
    '1.name: the scope "a" is defined twice', '0.includes: the scope "a" includes itself'
  ])
  const chain = Array.from(
    { length: 1000 }, (_, index) => ({ name: `s${index}`, includes: [`s${index + 1}`] })
  )
  t.match(compile(chain).problems, [/includes: the scopes include more than 10000 others/])
  t.strictSame(await problemsOf(t, {
    'server.yaml': 'scopes:\n  - name: a\n    includes: [b]\n  - name: b\n    includes: [a]'
  }), [0, 1].map((index) => ({
    file: 'server.yaml',
    place: `scopes[${index}].includes`,
    rule: `the scope "${index === 0 ? 'a' : 'b'}" includes itself`
  })))
  t.match(await problemsOf(t, { 'server.yaml': 'scopes:\n  - name: "a b"\n    more: 1' }), [
    { file: 'server.yaml', place: '', rule: /scopes\[0\]\.more: .*scopes\[0\]\.name: / }
  ])
})

t.test('views are those of the scopes with all that they include', async (t) => {
  const snapshot = await loadSnapshot(await writeCatalog(t, {
    'server.yaml': 'scopes: [{ name: admin, includes: [w] }, { name: w, includes: [r] }]',
    'tools/all.ts': moduleOf(`export default ['w', 'r', 'z'].map(
      (scope) => defineTool({ name: scope, scopes: [scope], run: () => '' })
    )`)
  }))
  const viewOf = (scopes: string) => snapshot.view({ scopes: scopesOf(scopes) })
  t.equal(viewOf('admin'), viewOf('w'))
  t.equal(viewOf('admin other'), viewOf('r w'))
  t.not(viewOf('admin'), viewOf('r'))
  t.equal(viewOf('z').tool('w'), undefined)
  t.ok(viewOf('admin').tool('r'))
})

t.test('whenMissing needs scopes, in modules and in Markdown', async (t) => {
  t.match(await problemsOf(t, {
    'tools/a.ts': moduleOf("export default defineTool({ name: 'a', whenMissing: 'hide', run: () => '' })"),
    'tools/b.ts': moduleOf(
      "export default defineTool({ name: 'b', scopes: ['a'], whenMissing: 'ask', run: () => '' })"
    ),
    'prompts/p.md': '---\nwhenMissing: challenge\n---\nText',
    'prompts/q.md': '---\nscopes: [a]\nwhenMissing: never\n---\nText'
  }), [
    { file: 'prompts/q.md', rule: /whenMissing: must be one of/ },
    { file: 'tools/a.ts', rule: 'whenMissing: needs scopes' },
    { file: 'tools/b.ts', rule: /whenMissing: must be one of/ },
    { file: 'prompts/p.md', rule: 'whenMissing: needs scopes' }
  ])
})
