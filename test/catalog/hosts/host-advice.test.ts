// `trivet check --hosts`: what each host makes of the tools of a catalog.

import t from 'tap'
import { DROPPED_KEYWORDS, HOST_HABITS, HOSTS } from '../../../src/catalog/hosts/host-table.ts'
import { toolModule, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

async function hostAdviceOf (files: Files, ...args: string[]): Promise<string[]> {
  const { out, err, exitCode } = await runProgram(['check', await writeCatalog(t, files), '--json', ...args])
  t.strictSame([exitCode, err], [0, ''])
  const advice: Array<{ name: string, file: string, rule: string }> = JSON.parse(out).advice
  return advice.filter(({ name }) => name === 'hosts').map(({ file, rule }) => `${file}: ${rule}`)
}

const schema = (keywords: object) => `inputSchema: ${JSON.stringify({ type: 'object', ...keywords })}`

t.test('a plain tool concerns no host', async (t) => {
  const files = { 'tools/a.ts': toolModule('a', schema({ properties: { format: { type: 'string' } } })) }
  t.strictSame(await hostAdviceOf(files, '--hosts'), [])
})

t.test('names that hosts rewrite or cut, and the tools that then have the same name', async (t) => {
  const start = 'x'.repeat(47)
  const files = {
    'tools/1.ts': toolModule('a.b'),
    'tools/2.ts': toolModule('a_b'),
    'tools/3.ts': toolModule(`${start}1`),
    'tools/4.ts': toolModule(`${start}2`),
    'tools/5.ts': toolModule('y'.repeat(47))
  }
  const short = 'in Gemini, Qwen, Cline, Copilot CLI: names have 63 or 64 characters at most'
  t.strictSame(await hostAdviceOf(files, '--hosts'), [
    'tools/1.ts: a.b in Claude Code, Codex, opencode, Qwen, Cline, Copilot CLI: dots in names are ' +
      'rewritten (here a_b, the same as a_b)',
    `tools/3.ts: ${start}1 ${short} (here 48 characters, the same as ${start}2)`,
    `tools/4.ts: ${start}2 ${short} (here 48 characters, the same as ${start}1)`
  ])
})

t.test('keywords, references and choices that hosts lose', async (t) => {
  const files = {
    'tools/a.ts': toolModule('a', schema({
      properties: {
        when: { type: 'string', format: 'date' },
        any: { enum: [{ minLength: 1 }] },
        list: { type: 'array', maxItems: 3, prefixItems: [{ type: 'integer', minimum: 0 }] },
        tree: { $ref: '#/$defs/tree' }
      },
      $defs: { tree: { properties: { children: { items: { $ref: '#/$defs/tree' } } } } }
    })),
    'tools/b.ts': toolModule('b', schema({ oneOf: [{ required: ['x'] }, { required: ['y'] }] }))
  }
  t.strictSame(await hostAdviceOf(files, '--hosts'), [
    'tools/a.ts: a in Codex: prefixItems, format and bounds are dropped ' +
      '(here prefixItems, format, minimum, maxItems)',
    'tools/a.ts: a in Continue: $defs are dropped, and $ref leads nowhere (here $ref)',
    'tools/b.ts: b in Claude Code: a choice at the top becomes prose (here oneOf)',
    'tools/b.ts: b in Continue: a choice at the top loses all arguments (here oneOf)',
    'tools/b.ts: b in Copilot CLI: the members of a choice at the top have no types (here oneOf)',
    'tools/b.ts: b in opencode: no arguments meet what a choice at the top becomes (here oneOf)'
  ])
})

t.test('texts beyond limits, links, and instructions', async (t) => {
  const describe = (length: number) => `description: '${'d'.repeat(length)}'`
  const module = (name: string, options: string, run = '() => ""') => (
    `import { defineTool, toolResult } from 'trivet'
     export default defineTool({ name: '${name}', ${options}, run: ${run} })`
  )
  const content = "content: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }]"
  const files = {
    'server.yaml': `instructions: ${'i'.repeat(4097)}`,
    'tools/a.ts': module('a', describe(16_385)),
    'tools/b.ts': module('b', describe(1024)),
    'tools/c.ts': module('c', describe(5), `() => toolResult({ ${content}, links: "blocks" })`),
    'tools/d.ts': module('d', describe(5), `() => ({ ${content} })`)
  }
  t.strictSame(await hostAdviceOf(files, '--hosts'), [
    'tools/a.ts: a in Claude Code: descriptions end at 16384 characters (here 16385 characters)',
    'tools/a.ts: a in Copilot CLI: some models refuse all tools for a description of more than 1024 ' +
      'characters (here 16385 characters)',
    "tools/c.ts: c in opencode, Copilot CLI: resource links are dropped (here links: 'blocks')",
    'server.yaml: in Continue, Cline, Copilot CLI: the model gets no instructions',
    'server.yaml: in Claude Code: instructions end at 4096 characters'
  ])
  t.strictSame(await hostAdviceOf(files), [], 'only with --hosts')
  t.strictSame(await hostAdviceOf(files, '--hosts', '--ignore', 'hosts'), [])
})

t.test('every host of the table has a version, and every dated row its date', (t) => {
  for (const { hosts, seen = 'November 2026' } of HOST_HABITS) {
    if (typeof hosts !== 'string') for (const host of hosts) t.ok(host in HOSTS)
    t.match(seen, /20\d\d$/)
  }
  t.equal(new Set(DROPPED_KEYWORDS).size, DROPPED_KEYWORDS.length)
  t.end()
})
