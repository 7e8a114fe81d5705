// What the commands say of upstreams. None of them calls one.

import t from 'tap'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const catalogWith = (upstreams: string): Files => ({
  'lib/crm.ts': `import { defineSettings, defineUpstream } from 'trivet'
    const settings = defineSettings({ URL: { type: 'string' }, KEY: { type: 'string', secret: true } })
    export const crm = defineUpstream({
      name: 'crm', settings, url: ({ URL }) => URL, auth: { type: 'secret', value: ({ KEY }) => KEY }
    })
    export const erp = defineUpstream({ name: 'erp', url: 'https://erp.example.com', auth: { type: 'none' } })`,
  'tools/a.ts': `import { defineTool } from 'trivet'
    import { crm, erp } from '../lib/crm.ts'
    export default defineTool({
      name: 'a', description: 'A tool.', annotations: { readOnlyHint: true }, ${upstreams} run: () => String(crm ?? erp)
    })`
})

t.test('check says which upstreams there are, and what calls them', async (t) => {
  const catalog = await writeCatalog(t, catalogWith('upstreams: [crm],'))
  const { out } = await runProgram(['check', catalog, '--ignore', 'missing-setting'])
  t.match(out, 'upstream crm: its URL needs settings, auth secret, called by a\n')
  t.match(out, 'upstream erp: https://erp.example.com/, auth none\n')
  const set = { URL: 'https://crm.example.com/x', KEY: 'canary' }
  const { out: json, exitCode } = await runProgram(['check', catalog, '--json'], set)
  t.equal(exitCode, 0)
  t.strictSame(JSON.parse(json).upstreams, [
    { name: 'crm', url: 'https://crm.example.com/x/', auth: 'secret', file: 'lib/crm.ts', usedBy: ['a'] },
    { name: 'erp', url: 'https://erp.example.com/', auth: 'none', file: 'lib/crm.ts', usedBy: [] }
  ])
  t.notMatch(json, 'canary')
  const { out: problem, exitCode: failed } = await runProgram(['check', catalog], { ...set, URL: 'http://crm' })
  t.equal(failed, 1)
  t.match(problem, 'lib/crm.ts: crm.url: must begin with https://, because tokens would travel in clear')
})

t.test('list --json has the upstreams of a definition', async (t) => {
  const catalog = await writeCatalog(t, catalogWith('upstreams: [crm, erp],'))
  const { out } = await runProgram(['list', catalog, '--json'])
  t.strictSame(JSON.parse(out).tools[0].upstreams, ['crm', 'erp'])
  const all = await writeCatalog(t, catalogWith(''))
  t.notOk('upstreams' in JSON.parse((await runProgram(['list', all, '--json'])).out).tools[0])
})

t.test('diff tells of a tool that begins to call another upstream', async (t) => {
  const cases: ReadonlyArray<readonly [before: string, after: string, rules: readonly string[]]> = [
    ['upstreams: [crm],', 'upstreams: [crm, erp],', ['newly calls the upstream erp']],
    ['upstreams: [crm],', 'upstreams: [erp],', [
      'newly calls the upstream erp', 'no longer calls the upstream crm'
    ]],
    ['upstreams: [crm],', '', ['may newly call every upstream of the catalog']],
    ['', 'upstreams: [crm],', ['calls these upstreams only: crm']],
    ['', 'upstreams: [],', ['calls these upstreams only: none']],
    ['upstreams: [crm, erp],', 'upstreams: [erp, crm],', []],
    ['', '', []]
  ]
  for (const [before, after, rules] of cases) {
    const old = await writeCatalog(t, catalogWith(before))
    const next = await writeCatalog(t, catalogWith(after))
    const { out, exitCode } = await runProgram(['diff', old, next, '--json'])
    const { changes }: { changes: Array<{ rule: string }> } = JSON.parse(out)
    t.equal(exitCode, 0, 'no client breaks')
    t.strictSame(changes.map(({ rule }) => rule), rules, `${before} ${after}`)
  }
})
