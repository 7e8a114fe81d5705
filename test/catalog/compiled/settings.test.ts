// Settings of a catalog: where their values come from, and what keeps a catalog from loading.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import { CatalogError, type Problem } from '../../../src/catalog/compiled/problem.ts'
import { openCatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import * as trivet from '../../../src/index.ts'
import { openCatalog, type TestOptions } from '../../../src/testing.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send } from '../../helpers/request.ts'
import { open } from '../../programs/testing/open.ts'

const SECRET = 'do-not-quote-me'

/** A catalog whose tool returns the values of these settings. */
const reading = (variables: string): Files => ({
  'lib/settings.ts': `import { defineSettings } from 'trivet'\nexport const settings = defineSettings(${variables})\n`,
  'tools/a.ts': `import { settings } from '../lib/settings.ts'\n${toolModule('a', '', '(_, ctx) => ctx.settings(settings)')}`
})

type Given = NonNullable<TestOptions['settings']>

async function valuesOf (t: Test, files: Files, settings: Given = {}): Promise<unknown> {
  const catalog = await open(t, files, { settings })
  const { structuredContent } = await catalog.call('a')
  return structuredContent
}

async function problemsOf (t: Test, files: Files, settings: Given = {}): Promise<readonly Problem[]> {
  const log = createReadableLog()
  const root = await writeCatalog(t, files)
  const error: unknown = await openCatalog(root, { settings, logger: log.logger }).then(
    async (catalog) => await catalog.close(), (reason: unknown) => reason
  )
  if (!(error instanceof CatalogError)) throw new Error(`no problem: ${error}`)
  t.notOk(error.message.includes(SECRET), 'no problem quotes a secret')
  t.notOk(log.text().includes(SECRET), 'nor does the log')
  return error.problems
}

t.test('a value is a variable, converted to the type of its setting', async (t) => {
  const files = reading(`{
    TEXT: { type: 'string' }, PADDED: { type: 'string' }, COUNT: { type: 'integer' }, RATE: { type: 'number' },
    IS_ON: { type: 'boolean' }, IS_OFF: { type: 'boolean' }, MODE: { enum: ['fast', 'slow'] }
  }`)
  t.strictSame(await valuesOf(t, files, {
    TEXT: '12',
    PADDED: ' a ',
    COUNT: ' 12 ',
    RATE: '-1.5e3',
    IS_ON: 'true',
    IS_OFF: false,
    MODE: 'slow',
    LEFT: 'x'
  }), { TEXT: '12', PADDED: ' a ', COUNT: 12, RATE: -1500, IS_ON: true, IS_OFF: false, MODE: 'slow' })
})

t.test('a default, and nothing for an optional setting; an empty variable counts as missing', async (t) => {
  const files = reading(`{
    COUNT: { type: 'integer', default: 20 }, NOTE: { type: 'string', optional: true },
    SECRET: { type: 'string', default: 'd', secret: true }
  }`)
  t.strictSame(await valuesOf(t, files, { COUNT: '', NOTE: '' }), { COUNT: 20, SECRET: 'd' })
  t.strictSame(await valuesOf(t, files, { COUNT: '1', NOTE: 'n' }), { COUNT: 1, NOTE: 'n', SECRET: 'd' })
})

t.test('a value is the text of a file that a variable names, without its last line end', async (t) => {
  const files = reading("{ KEY: { type: 'string', secret: true }, PORT_OF: { type: 'integer' } }")
  const root = await writeCatalog(t, { key: `${SECRET}\n\n`, port: '12\r\n', empty: '\n' })
  t.strictSame(await valuesOf(t, files, { KEY_FILE: join(root, 'key'), PORT_OF_FILE: join(root, 'port') }), {
    KEY: `${SECRET}\n`, PORT_OF: 12
  })
  await writeInPlace(root, 'large', 'x'.repeat(1_048_577))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const refused: ReadonlyArray<readonly [Given, RegExp]> = [
    [{ KEY: SECRET, KEY_FILE: join(root, 'key') }, /^is set, and KEY_FILE is too: remove one/],
    [{ KEY_FILE: join(root, 'none') }, /^cannot be read from the file that KEY_FILE names: ENOENT/],
    [{ KEY_FILE: root }, /^cannot be read from the file that KEY_FILE names: EISDIR/],
    [{ KEY_FILE: join(root, 'pipe') }, /KEY_FILE names: expected a file, got a named pipe$/],
    [{ KEY_FILE: join(root, 'large') }, /^is in a file of 1048577 bytes, named by KEY_FILE; the limit is 1048576$/],
    [{ KEY_FILE: join(root, 'empty') }, /^is required, but missing: set the variable KEY, or KEY_FILE/]
  ]
  for (const [given, rule] of refused) {
    t.match(await problemsOf(t, files, { PORT_OF: 1, ...given }), [
      { file: 'lib/settings.ts', place: 'settings.KEY', rule }
    ])
  }
})

t.test('refuses values that are missing or do not match, all at once, and quotes no secret', async (t) => {
  const files = reading(`{
    MISSING: { type: 'string' }, COUNT: { type: 'integer', minimum: 1 }, HEX: { type: 'integer' },
    URL: { type: 'string', format: 'uri' }, MODE: { enum: ['fast', 'slow'] }, IS_ON: { type: 'boolean' },
    KEY: { type: 'string', pattern: '^k-', secret: true }, PIN: { type: 'integer', secret: true },
    LONG: { type: 'string', maxLength: 3 }
  }`)
  const problems = await problemsOf(t, files, {
    COUNT: '0',
    HEX: '0x10',
    URL: 'no uri',
    MODE: 'medium',
    IS_ON: 'yes',
    KEY: SECRET,
    PIN: SECRET,
    LONG: 'x'.repeat(200)
  })
  t.match(problems, [
    {
      place: 'settings.MISSING',
      rule: 'is required, but missing: set the variable MISSING, or MISSING_FILE to the path of a file'
    },
    { place: 'settings.COUNT', rule: 'COUNT: must be >= 1, got 0' },
    { place: 'settings.HEX', rule: 'HEX: must be integer, got "0x10"' },
    { place: 'settings.URL', rule: 'URL: must match format "uri", got "no uri"' },
    { place: 'settings.MODE', rule: 'MODE: must be one of ["fast","slow"], got "medium"' },
    { place: 'settings.IS_ON', rule: 'IS_ON: must be boolean, got "yes"' },
    { place: 'settings.KEY', rule: 'KEY: must match pattern "^k-", got a string' },
    { place: 'settings.PIN', rule: 'PIN: must be integer, got a string' },
    { place: 'settings.LONG', rule: `LONG: must NOT have more than 3 characters, got "${'x'.repeat(79)}…` }
  ])
  t.ok(problems.every(({ file }) => file === 'lib/settings.ts'))
})

t.test('what needs a missing setting adds no problem of its own', async (t) => {
  const problems = await problemsOf(t, {
    'tools/crm.ts': `
      import { defineSettings, defineTool, defineUpstream } from 'trivet'
      const settings = defineSettings({ CRM_URL: { type: 'string' }, CRM_KEY: { type: 'string' } })
      export const crm = defineUpstream({
        name: 'crm', settings, url: ({ CRM_URL }) => CRM_URL,
        auth: { type: 'secret', header: 'x-key', value: ({ CRM_KEY }) => CRM_KEY }
      })
      export const other = defineUpstream({ name: 'other', url: () => '', auth: { type: 'none' } })
      export default defineTool({ name: 'crm', run () {} })
    `,
    'resources/regions.resource.ts': `
      import { defineResourceTemplate, defineSettings } from 'trivet'
      const settings = defineSettings({ REGIONS: { type: 'string' } })
      export default defineResourceTemplate({
        uriTemplate: 'region:{name}', name: 'regions', read: () => '',
        list: (ctx) => ctx.settings(settings).REGIONS.split(',').map((name) => ({ name, variables: { name } }))
      })
    `
  })
  t.match(problems.map(({ place, rule }) => `${place}: ${rule}`).toSorted(), [
    /CRM_KEY: is required, but missing/, /CRM_URL: is required, but missing/, /REGIONS: is required, but missing/,
    /^other.url: must be a text that is not empty/
  ])
  t.equal(problems.length, 4)
})

t.test('refuses definitions that are not valid', async (t) => {
  const refused: ReadonlyArray<readonly [variables: string, place: string, rule: RegExp]> = [
    ["{ TRIVET_SECRETS: { type: 'string' } }", 'settings.TRIVET_SECRETS', /must not begin with a digit or with TRIVET_/],
    ["{ 'A-B': { type: 'string' } }", 'settings.A-B', /^must have only letters, digits and _/],
    ['{ A: {} }', 'settings.A', /^needs a type or an enum$/],
    ['{ A: null }', 'settings.A', /^value: must be object, got null$/],
    ["{ A: { type: 'array' } }", 'settings.A', /^type: must be one of \["string","number","integer","boolean"\]/],
    ["{ A: { type: 'integer', enum: ['1'] } }", 'settings.A', /^must have the type string, because it has an enum/],
    ["{ A: { type: 'string', optionl: true } }", 'settings.A', /^optionl: is not known here; did you mean optional\?$/],
    ["{ A: { type: 'integer', default: 'x' } }", 'settings.A', /^the default of A: must be integer, got "x"$/],
    ["{ A: { type: 'string', pattern: '(' } }", 'settings.A', /pattern|regular expression/i],
    ['7', 'settings', /^must be an object with the options of each setting$/]
  ]
  for (const [variables, place, rule] of refused) {
    const problems = await problemsOf(t, reading(variables), { A: '1' })
    t.match(problems, [{ file: 'lib/settings.ts', place, rule }], variables)
  }
})

t.test('two definitions may have a variable in common, with the same options', async (t) => {
  const other = (options: string) => ({
    ...reading("{ A: { type: 'integer', minimum: 1, description: 'One.' } }"),
    'lib/other.ts': `import { defineSettings } from 'trivet'\ndefineSettings({ A: ${options} })\n`,
    'tools/b.ts': `import '../lib/other.ts'\n${toolModule('b')}`
  })
  const same = other("{ type: 'integer', description: 'Two.', minimum: 1 }")
  t.strictSame(await valuesOf(t, same, { A: 3 }), { A: 3 })
  t.match(await problemsOf(t, other("{ type: 'integer' }"), { A: 3 }), [
    { file: 'lib/other.ts', place: 'A', rule: /^has other options in lib\/settings\.ts: / }
  ])
})

t.test('a module may set a variable while it is loaded', async (t) => {
  const environment: { [name: string]: string } = {}
  Reflect.set(globalThis, 'environmentOfTest', environment)
  const files = reading("{ A: { type: 'integer' } }")
  const catalog = await writeCatalog(t, { ...files, 'lib/settings.ts': `environmentOfTest.A = '5'\n${files['lib/settings.ts']}` })
  const app = await createApp({ ...QUIET, catalog, environment })
  t.teardown(async () => await app.close())
  const { response } = await send(app, { method: 'tools/call', params: { name: 'a' } })
  t.strictSame(response.result.structuredContent, { A: 5 })
})

t.test('the version and the lists of the catalog do not depend on the values', async (t) => {
  const root = await writeCatalog(t, reading("{ KEY: { type: 'string', secret: true } }"))
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'off', trivet })
  const contents = await source.load()
  const [one, other] = await Promise.all(['one', 'other'].map(async (text) => {
    const compiler = new CatalogCompiler({ pageSize: 10, readSetting: async () => ({ text }) })
    return await compiler.compile(contents)
  }))
  t.strictSame(
    [one, other].map((snapshot) => [...snapshot?.settings.values.values() ?? []]),
    [[{ KEY: 'one' }], [{ KEY: 'other' }]]
  )
  t.equal(one?.version, other?.version)
})

t.test('settings that were made after the load are unknown', async (t) => {
  const log = createReadableLog()
  const late = "(_, ctx) => ctx.settings(defineSettings({ A: { type: 'string', default: 'a' } }))"
  const files = { 'tools/a.ts': `import { defineSettings } from 'trivet'\n${toolModule('a', '', late)}` }
  const catalog = await open(t, files, { logger: log.logger })
  await t.rejects(catalog.call('a'), { message: /Internal error/ })
  t.match(log.text(), /Unknown settings. Define it at the top level of a module of the catalog/)
})
