// `trivet diff`: what breaks clients, and what does not.

import t, { type Test } from 'tap'
import type { Change } from '../../src/contracts/changes.ts'
import { writeCatalog, type Files } from '../helpers/catalog-folder.ts'
import { runProgram } from '../helpers/program.ts'

interface ToolParts {
  readonly input?: object
  readonly output?: object
  readonly more?: object
}

const tool = ({ input = {}, output, more = {} }: ToolParts = {}): Files => {
  const definition = {
    name: 'a',
    description: 'A tool.',
    inputSchema: { type: 'object', ...input },
    ...output !== undefined && { outputSchema: { type: 'object', ...output } },
    ...more
  }
  const text = JSON.stringify(definition).replace(/}$/, ', run: () => ({}) }')
  return { 'tools/a.ts': `import { defineTool } from 'trivet'\nexport default defineTool(${text})\n` }
}

async function diff (t: Test, old: Files, next: Files, ...args: string[]) {
  return await runProgram(['diff', await writeCatalog(t, old), await writeCatalog(t, next), ...args])
}

/** The changes, each with whether it breaks clients. */
async function changesOf (t: Test, old: Files, next: Files): Promise<Array<[boolean, string]>> {
  const { out, err, exitCode } = await diff(t, old, next, '--json')
  const { changes } = JSON.parse(out)
  t.equal(err, '')
  t.equal(exitCode, changes.some(({ isBreaking }: Change) => isBreaking) ? 1 : 0)
  return changes.map(({ isBreaking, subject, rule }: Change) => [isBreaking, `${subject} ${rule}`])
}

const text = { type: 'string' }
const input = (properties: object, more: object = {}) => tool({ input: { properties, ...more } })
const output = (properties: object, more: object = {}) => tool({ output: { properties, ...more } })
const closed = { additionalProperties: false }

const CASES: ReadonlyArray<{
  readonly claim: string
  readonly old: Files
  readonly next: Files
  readonly breaks?: readonly string[]
  readonly fine?: readonly string[]
}> = [
  { claim: 'nothing but texts', old: tool(), next: tool({ more: { description: 'More.', title: 'A' } }) },
  { claim: 'a tool that is gone', old: tool(), next: {}, breaks: ['tool a is gone'] },
  { claim: 'a new tool', old: {}, next: tool(), fine: ['tool a is new'] },
  {
    claim: 'a new argument that may be missing',
    old: input({}),
    next: input({ x: text }),
    fine: ['tool a has a new argument x']
  },
  {
    claim: 'an argument that is newly required',
    old: input({ x: text }),
    next: input({ x: text }, { required: ['x'] }),
    breaks: ['tool a arguments: x is newly required']
  },
  {
    claim: 'an argument that is gone',
    old: input({ x: text }, closed),
    next: input({}, closed),
    breaks: ['tool a no longer has the argument x']
  },
  {
    claim: 'an argument of fewer types',
    old: input({ x: { type: ['string', 'number'] } }),
    next: input({ x: { type: 'integer' } }),
    breaks: ['tool a argument x: no longer accepts string, number']
  },
  {
    claim: 'an argument of more types',
    old: input({ x: { type: 'integer' } }),
    next: input({ x: { type: ['number', 'null'] } })
  },
  {
    claim: 'fewer and more values',
    old: input({ x: { enum: ['a', 'b'] }, y: { enum: ['a'] } }),
    next: input({ x: { enum: ['a'] }, y: { enum: ['b', 'a'] } }),
    breaks: ['tool a argument x: no longer accepts "b"']
  },
  {
    claim: 'narrower and wider limits, also within lists and objects',
    old: input({ x: { items: { properties: { y: { maximum: 5, minimum: 1 } } } } }),
    next: input({ x: { items: { properties: { y: { maximum: 4, minimum: 0 } } } } }),
    breaks: ['tool a argument x[].y: has the narrower limit maximum 4']
  },
  {
    claim: 'a pattern that changed',
    old: input({ x: { type: 'string', pattern: '^a' } }),
    next: input({ x: { type: 'string', pattern: '^b' } }),
    breaks: ['tool a argument x: pattern has changed, and cannot be compared']
  },
  {
    claim: 'a pattern that is gone',
    old: input({ x: { ...text, pattern: '^a' } }),
    next: input({ x: text })
  },
  {
    claim: 'other arguments are refused',
    old: input({ x: text }),
    next: input({ x: text }, closed),
    breaks: ['tool a arguments: no longer accepts members that the schema does not name']
  },
  {
    claim: 'results that may lack a member, or have another one or another type',
    old: output({ x: text, y: text }, { ...closed, required: ['x'] }),
    next: output({ x: { type: ['string', 'null'] }, y: text, z: text }, closed),
    breaks: [
      'tool a results: x may be missing', 'tool a result x: may now have null',
      'tool a results: may now have z'
    ]
  },
  {
    claim: 'results that promise more',
    old: output({ x: text }),
    next: output({ x: { ...text, maxLength: 5 }, y: text }, { required: ['x'] })
  },
  {
    claim: 'no structured results',
    old: output({ x: text }),
    next: tool(),
    breaks: ['tool a no longer has structured results']
  },
  {
    claim: 'scopes',
    old: tool({ more: { scopes: ['a', 'b'] } }),
    next: tool({ more: { scopes: ['b', 'c'] } }),
    breaks: ['tool a newly needs the scope c'],
    fine: ['tool a no longer needs the scope a']
  },
  {
    claim: 'prompts',
    old: { 'prompts/p.md': '---\narguments:\n  - name: x\n  - name: y\n---\n{{x}}{{y}}\n' },
    next: { 'prompts/p.md': '---\narguments: [{ name: x, required: true }, { name: z }]\n---\n{{x}}{{z}}\n' },
    breaks: ['prompt p argument x is newly required', 'prompt p no longer has the argument y'],
    fine: ['prompt p has a new argument z']
  },
  {
    claim: 'resources',
    old: { 'resources/a.md': 'a', 'resources/b.md': 'b' },
    next: { 'resources/b.md': 'other', 'resources/c.md': 'c' },
    breaks: ['resource file:///a.md is gone'],
    fine: ['resource file:///c.md is new']
  }
]

for (const { claim, old, next, breaks = [], fine = [] } of CASES) {
  t.test(claim, async (t) => {
    const expected = [...breaks.map((rule) => [true, rule]), ...fine.map((rule) => [false, rule])]
    t.strictSame((await changesOf(t, old, next)).toSorted(), expected.toSorted())
  })
}

t.test('for people: what breaks comes first, with its file', async (t) => {
  const { out, exitCode } = await diff(t, { ...tool(), 'resources/a.md': 'a' }, { 'resources/b.md': 'b' })
  t.equal(exitCode, 1)
  t.match(out.split('\n'), [
    'breaks tools/a.ts: tool a is gone', 'breaks resources/a.md: resource file:///a.md is gone',
    'fine   resources/b.md: resource file:///b.md is new', '3 changes, 2 of them break clients'
  ])
})

t.test('a catalog that does not load', async (t) => {
  await t.rejects(diff(t, tool(), { 'tools/a.ts': 'export default 1 +\n' }), { name: 'CatalogError' })
})
