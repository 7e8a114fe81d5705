import t from 'tap'
import { findCatalogChange, type CatalogChange } from '../../../src/catalog/folder/live/catalog-change.ts'
import { createCatalog, type Catalog } from '../../../src/catalog/compiled/catalog.ts'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import type { CatalogContents, Located } from '../../../src/catalog/compiled/contents.ts'
import type { Snapshot } from '../../../src/catalog/compiled/snapshot.ts'
import { definePrompt, defineResource, defineResourceTemplate, defineTool } from '../../../src/index.ts'
import { EMPTY_CONTENTS } from '../../helpers/empty-contents.ts'

const at = <D>(...definitions: D[]): Array<Located<D>> => definitions.map(
  (definition) => ({ definition, file: 'a.ts', place: '' })
)

async function snapshotOf (
  contents: Partial<CatalogContents>, compiler = new CatalogCompiler({ pageSize: 10 })
): Promise<Snapshot> {
  return await compiler.compile({ ...EMPTY_CONTENTS, ...contents })
}

const tool = (options: object = {}) => defineTool({ name: 'tool', run: () => 'a', ...options })
const prompt = (options: object = {}) => definePrompt({ name: 'prompt', render: () => 'a', ...options })
const resource = (options: object = {}) => defineResource({
  uri: 'x://a', name: 'resource', read: () => 'a', ...options
})
const template = (options: object = {}) => defineResourceTemplate({
  uriTemplate: 'x://t/{id}', name: 'template', read: () => 'a', ...options
})

async function replace (catalog: Catalog, next: Snapshot): Promise<CatalogChange> {
  const before = catalog.current
  const change = await findCatalogChange(before, next)
  catalog.replace(before, next)
  return change
}

const namesOf = ({ lists }: CatalogChange) => lists.map(({ list }) => list)

const BEFORE = {
  tools: at(tool()), prompts: at(prompt()), resources: at(resource()), templates: at(template())
}

t.test('names the lists that changed', async (t) => {
  const cases: ReadonlyArray<readonly [string, Partial<CatalogContents>, readonly string[]]> = [
    ['nothing', {}, []],
    ['a tool\'s code', { tools: at(tool({ run: () => 'b' })) }, []],
    ['a prompt\'s words', { prompts: at(prompt({ render: () => 'b' })) }, []],
    ['where a tool stands in its file', { tools: at(tool()).map((one) => ({ ...one, file: 'b.ts' })) }, []],
    ['a description', { tools: at(tool({ description: 'A tool.' })) }, ['tools']],
    ['a schema', { tools: at(tool({ inputSchema: { type: 'object' } })) }, ['tools']],
    ['who may see a tool', { tools: at(tool({ scopes: ['a'] })) }, ['tools']],
    ['a tool more', { tools: at(tool(), tool({ name: 'b' })) }, ['tools']],
    ['a tool less', { tools: [] }, ['tools']],
    ['an argument', { prompts: at(prompt({ arguments: [{ name: 'a' }] })) }, ['prompts']],
    ['what completes an argument', { prompts: at(prompt()) }, []],
    ['a resource', { resources: at(resource({ size: 5 })) }, ['resources']],
    ['how long a resource may be kept', { resources: at(resource({ cache: { ttlMs: 5 } })) }, []],
    ['a template', { templates: at(template({ title: 'T' })) }, ['resources']],
    [
      'what a template lists', { templates: at(template({ list: () => [{ uri: 'x://t/1', name: 'one' }] })) },
      ['resources']
    ],
    [
      'everything', { tools: [], prompts: [], resources: [], templates: [] },
      ['tools', 'prompts', 'resources']
    ]
  ]
  for (const [what, change, lists] of cases) {
    const catalog = createCatalog(await snapshotOf(BEFORE))
    const next = await snapshotOf({ ...BEFORE, ...change })
    const replaced = await replace(catalog, next)
    t.strictSame({ ...replaced, lists: namesOf(replaced) }, { lists, updated: [] }, what)
    t.equal(catalog.current, next)
  }
})

t.test('compares with the previous snapshot, not with the first', async (t) => {
  const catalog = createCatalog(await snapshotOf(BEFORE))
  t.strictSame(namesOf(await replace(catalog, await snapshotOf({ ...BEFORE, tools: [] }))), ['tools'])
  t.strictSame(namesOf(await replace(catalog, await snapshotOf({ ...BEFORE, tools: [] }))), [])
  t.strictSame(namesOf(await replace(catalog, await snapshotOf(BEFORE))), ['tools'])
})

t.test('moving a tool to another place in the list changes the list (108)', async (t) => {
  const two = (order: number) => ({ tools: at(tool({ name: 'a' }), tool({ name: 'b', order })) })
  const catalog = createCatalog(await snapshotOf(two(0)))
  t.strictSame(namesOf(await replace(catalog, await snapshotOf(two(1)))), [])
  t.strictSame(namesOf(await replace(catalog, await snapshotOf(two(-1)))), ['tools'])
})

t.test('says for whom a list has changed (107, 189)', async (t) => {
  const secret = (options: object = {}) => tool({ name: 'secret', scopes: ['a', 'b'], ...options })
  const settings = (includes: readonly string[]) => ({
    ...EMPTY_CONTENTS.server, scopes: at({ name: 'admin', includes })
  })
  type Change = Partial<CatalogContents>
  type ScopeSets = ReadonlyArray<readonly string[]>
  const cases: ReadonlyArray<readonly [string, Change, Change, ScopeSets | undefined]> = [
    ['a hidden tool more', {}, { tools: at(tool(), secret()) }, [['a', 'b']]],
    ['a hidden tool less', { tools: at(tool(), secret()) }, {}, [['a', 'b']]],
    [
      'an edit of a hidden tool', { tools: at(tool(), secret()) },
      { tools: at(tool(), secret({ title: 'T' })) }, [['a', 'b']]
    ],
    [
      'two of them', {}, { tools: at(tool(), secret(), tool({ name: 'c', scopes: ['c'] })) },
      [['c'], ['a', 'b']]
    ],
    ['one of them is open', {}, { tools: at(tool(), secret(), tool({ name: 'c' })) }, [[]]],
    ['a challenging tool', {}, { tools: at(tool(), secret({ whenMissing: 'challenge' })) }, [[]]],
    [
      'other scopes of a challenging tool', { tools: at(secret({ whenMissing: 'challenge' })) },
      { tools: at(secret({ whenMissing: 'challenge', scopes: ['c'] })) }, undefined
    ],
    ['a tool that becomes hidden', {}, { tools: at(tool({ scopes: ['a'] })) }, [[]]],
    [
      'the place of a hidden tool', { tools: at(tool(), secret({ order: 1 })) },
      { tools: at(tool(), secret({ order: -1 })) }, [['a', 'b']]
    ],
    [
      'the scopes that a scope includes', { tools: at(secret()), server: settings(['a']) },
      { tools: at(secret()), server: settings(['a', 'b']) }, [['admin']]
    ],
    [
      'the same, without a tool that needs them', { tools: at(secret()), server: settings([]) },
      { tools: at(secret()), server: settings(['c']) }, undefined
    ]
  ]
  for (const [what, before, after, seenBy] of cases) {
    const catalog = createCatalog(await snapshotOf({ ...BEFORE, ...before }))
    const { lists } = await replace(catalog, await snapshotOf({ ...BEFORE, ...after }))
    t.strictSame(lists.map((one) => one.seenBy), seenBy === undefined ? [] : [seenBy], what)
  }
})

t.test('names the files that were changed, added or removed (162)', async (t) => {
  const stamps = (table: { readonly [uri: string]: string }) => ({ stamps: new Map(Object.entries(table)) })
  const catalog = createCatalog(await snapshotOf(stamps({ same: '1', changed: '1', gone: '1' })))
  t.strictSame(await replace(catalog, await snapshotOf(stamps({ same: '1', changed: '2', new: '1' }))), {
    lists: [], updated: ['changed', 'new', 'gone'].map((uri) => ({ uri }))
  })
  const last = await snapshotOf(stamps({ same: '1', changed: '2', new: '1', gone: '1' }))
  t.strictSame(await replace(catalog, last), { lists: [], updated: ['gone'].map((uri) => ({ uri })) })
})

t.test('a reload compiles only schemas that have changed', async (t) => {
  const compiler = new CatalogCompiler({ pageSize: 10 })
  const checkOfLoad = async (maxLength: number) => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', maxLength } } }
    const { primitives } = await snapshotOf({ tools: at(tool({ inputSchema })) }, compiler)
    return primitives.tools[0]?.checkInput
  }
  const first = await checkOfLoad(1)
  t.equal(await checkOfLoad(1), first)
  t.not(await checkOfLoad(2), first)
  await checkOfLoad(2)
  t.not(await checkOfLoad(1), first, 'and nothing is kept for schemas that no load uses')
})

t.test('gives way to requests between definitions', async (t) => {
  let turns = 0
  const compiler = new CatalogCompiler({ pageSize: 10, yieldToRequests: async () => { turns++ } })
  const names = Array.from({ length: 20 }, (_, index) => `tool-${index}`)
  await snapshotOf({ tools: names.flatMap((name) => at(tool({ name }))) }, compiler)
  t.ok(turns >= names.length)
})
