// `trivet check`: problems and advice, for people, programs and code hosts.

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { toolModule, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const DESCRIBED = "description: 'An argument.'"
const tool = (name: string, description: string, properties = '') => `import { defineTool } from 'trivet'
export default defineTool({
  name: '${name}', description: ${JSON.stringify(description)}, run: () => 'ok',
  inputSchema: { type: 'object', properties: { ${properties} } }
})
`

async function check (t: Test, files: Files, ...args: string[]): Promise<string> {
  const { out, exitCode, err } = await runProgram(['check', await writeCatalog(t, files), ...args])
  t.strictSame([exitCode, err], [0, ''])
  return out
}

/** The places and the names of the advice. */
async function adviceOf (t: Test, files: Files, ...args: string[]): Promise<string[]> {
  const { advice } = JSON.parse(await check(t, files, '--json', ...args))
  return advice.map(({ file, place, name }: { file: string, place: string, name: string }) => (
    [file, place, name].filter((part) => part !== '').join(' ')
  ))
}

const BROKEN = {
  'tools/a.ts': 'export default 1 +\n',
  'tools/b.ts': toolModule('b', "inputSchema: { type: 'objekt' }"),
  'prompts/c.md': '---\ndescription: [\n---\n'
}

t.test('all problems at once, with the line where there is one; exit code 1', async (t) => {
  const { out, exitCode } = await runProgram(['check', await writeCatalog(t, BROKEN)])
  t.equal(exitCode, 1)
  const inSchema = /^tools\/b\.ts:2: inputSchema: \/type must be one of .*, got "objekt"$/m
  for (const line of [/^tools\/a\.ts:\d: \S/m, inSchema, /^prompts\/c\.md:\d: \S/m]) t.match(out, line)
  t.match(out, /\n\d problems, 0 pieces of advice\n$/)
})

t.test('a catalog without problems and advice', async (t) => {
  const files = { 'tools/a.ts': tool('a', 'Adds two numbers.', `x: { type: 'number', ${DESCRIBED} }`) }
  t.equal(await check(t, files), '0 problems, 0 pieces of advice\n')
})

t.test('SARIF has each finding with its file and line', async (t) => {
  const { out, exitCode } = await runProgram([
    'check', await writeCatalog(t, BROKEN), '--format', 'sarif'
  ])
  t.equal(exitCode, 1)
  const { version, runs: [run] } = JSON.parse(out)
  t.equal(version, '2.1.0')
  t.strictSame(run.tool.driver.rules, [{ id: 'problem' }])
  t.match(run.results.find(({ locations }: { locations: object[] }) => /a\.ts/.test(JSON.stringify(locations))), {
    ruleId: 'problem',
    level: 'error',
    locations: [{
      physicalLocation: { artifactLocation: { uri: /tools\/a\.ts$/ }, region: { startLine: Number } }
    }]
  })
  const advised = await check(t, { 'tools/a b.ts': tool('a.b', 'Does one thing.') }, '--format', 'sarif')
  t.match(JSON.parse(advised).runs[0].results, [{
    ruleId: 'name',
    level: 'note',
    message: { text: /^name: "a\.b" has characters/ },
    locations: [{ physicalLocation: { artifactLocation: { uri: /tools\/a%20b\.ts$/ } } }]
  }])
})

t.test('SARIF names files from the root of the repository', async (t) => {
  const catalog = { tools: { 'a.ts': 'export default 1 +\n' } }
  const root = t.testdir({ '.git': {}, services: { 'my shop': catalog } })
  const { out } = await runProgram(['check', join(root, 'services/my shop'), '--format', 'sarif'])
  const [{ locations: [{ physicalLocation }] }] = JSON.parse(out).runs[0].results
  t.equal(physicalLocation.artifactLocation.uri, 'services/my%20shop/tools/a.ts')
})

t.test('a folder that is no catalog is refused, and says which one may be meant', async (t) => {
  const root = t.testdir({ 'package.json': '{}', node_modules: {}, shop: { tools: {} }, other: {} })
  for (const command of ['check', 'list']) {
    const { out, err, exitCode } = await runProgram([command, root])
    t.match(out + err, `${root}: is no catalog: it has none of server.yaml, tools, `)
    t.match(out + err, `name ${join(root, 'shop')}\n`)
    t.equal(exitCode, 1)
  }
  await t.rejects(createApp({ catalog: root, stateUrl: 'memory:' }), { name: 'CatalogError' })
  t.match((await runProgram(['check', join(root, 'other')])).out, '0 problems', 'an empty one is a beginning')
})

t.test('descriptions: of tools, prompts and arguments', async (t) => {
  t.strictSame(await adviceOf(t, {
    'tools/a.ts': "import { defineTool } from 'trivet'\n" +
      "export default defineTool({ name: 'a', run: () => 'a' })\n",
    'tools/b.ts': tool('b', 'Does b.', "x: { type: 'string' }"),
    'prompts/p.md': '---\narguments:\n  - name: x\n---\n{{x}}\n'
  }), [
    'prompts/p.md description', 'prompts/p.md description', 'tools/a.ts description',
    'tools/b.ts description'
  ])
})

t.test('names that clients refuse or cut', async (t) => {
  t.strictSame(await adviceOf(t, {
    'tools/a.ts': tool('a.b', 'Does one thing.'),
    'tools/b.ts': tool('b'.repeat(49), 'Does another.'),
    'tools/c.ts': tool('c'.repeat(48), 'Does a third.')
  }), ['tools/a.ts name name', 'tools/b.ts name name'])
})

t.test('schemas about which a model must guess', async (t) => {
  const properties = `
    bare: { type: 'object', ${DESCRIBED} }, any: { ${DESCRIBED} },
    map: { type: 'object', ${DESCRIBED}, additionalProperties: { type: 'string' } },
    list: { type: 'array', ${DESCRIBED}, items: { type: 'object', properties: { inner: {} } } },
    many: { ${DESCRIBED}, anyOf: [1, 2, 3, 4, 5, 6].map((value) => ({ const: value })) },
    deep: { ${DESCRIBED}, oneOf: [{ type: 'string' }, { anyOf: [{ type: 'number' }, { type: 'null' }] }] }`
  t.strictSame(await adviceOf(t, { 'tools/a.ts': tool('a', 'Does one thing.', properties) }), [
    'tools/a.ts inputSchema.properties.bare bare-object', 'tools/a.ts inputSchema.properties.any bare-object',
    'tools/a.ts inputSchema.properties.list.items.properties.inner bare-object',
    'tools/a.ts inputSchema.properties.many.anyOf union',
    'tools/a.ts inputSchema.properties.deep.oneOf[1].anyOf union'
  ])
})

t.test('resources and templates that a model cannot choose, or a host not show', async (t) => {
  const FULL = "description: 'The rules.', mimeType: 'text/plain'"
  const resource = (options: string) => `import { defineResource } from 'trivet'
    export default defineResource({ name: 'r', read: () => '', ${options} })`
  const template = (options: string) => `import { defineResourceTemplate } from 'trivet'
    export default defineResourceTemplate({ name: 't', read: () => '', ${options} })`
  const files = {
    'resources/a.resource.ts': resource("uri: 'shop:hours'"),
    'resources/b.resource.ts': resource(`uri: 'shop:rules', ${FULL}`),
    'resources/c.resource.ts': template("uriTemplate: 'crm://{id}', description: ' '"),
    'resources/d.resource.ts': resource(`uri: 'file:///x', ${FULL}`),
    'resources/plain': 'A plain file.'
  }
  t.strictSame(await adviceOf(t, files), ['a', 'c'].flatMap((name) => (
    ['description', 'mime-type', 'scheme'].map((advice) => `resources/${name}.resource.ts ${advice}`)
  )))
  const explained = { ...files, 'server.yaml': 'instructions: "shop: and CRM: are ours."\n' }
  t.strictSame((await adviceOf(t, explained)).filter((line) => line.endsWith('scheme')), [])
})

t.test('outputs that look like whole results', async (t) => {
  const module = (name: string, members: string[]) => toolModule(name, `description: 'Gives ${name}.', outputSchema: {
    type: 'object', properties: ${JSON.stringify(Object.fromEntries(members.map((member) => [member, {}])))}
  }`)
  t.strictSame(await adviceOf(t, {
    'tools/pages.ts': module('pages', ['content', 'title']),
    'tools/states.ts': module('states', ['isError', 'content']),
    'tools/times.ts': module('times', ['isError'])
  }), ['tools/states.ts outputSchema result-form'])
})

t.test('secrets that would be copied into a header', async (t) => {
  const headers = { apiKey: 'Key', region: 'Region', key: 'Access-Token', spin: 'Spin' }
  const properties = Object.entries(headers).map(
    ([name, header]) => `${name}: { type: 'string', ${DESCRIBED}, 'x-mcp-header': '${header}' }`
  ).join(', ')
  t.strictSame(await adviceOf(t, { 'tools/a.ts': tool('a', 'Does one thing.', properties) }), [
    'tools/a.ts inputSchema.properties.apiKey secret-header',
    'tools/a.ts inputSchema.properties.key secret-header'
  ])
})

t.test('required properties that no schema describes', async (t) => {
  const schemas = {
    'tools/a.ts': "properties: { city: STRING }, required: ['city', 'ctiy']",
    'tools/b.ts': "properties: { city: STRING }, anyOf: [{ required: ['city'] }, { required: ['none'] }]",
    'tools/c.ts': "properties: {}, required: ['any'], patternProperties: { '^a': STRING }",
    'tools/d.ts': "properties: { o: { ...STRING, type: 'object', properties: {}, required: ['x'] } }"
  }
  const names = ['Asks the weather.', 'Books a flight.', 'Counts sheep.', 'Draws a map.']
  const files = Object.fromEntries(Object.entries(schemas).map(([file, schema], index) => [file, `
    import { defineTool } from 'trivet'
    const STRING = { type: 'string', ${DESCRIBED} }
    export default defineTool({
      name: 't${index}', description: '${names[index]}', inputSchema: { type: 'object', ${schema} },
      run: () => ''
    })`]))
  t.strictSame(await adviceOf(t, files), [
    'tools/a.ts inputSchema.required required', 'tools/b.ts inputSchema.anyOf union',
    'tools/b.ts inputSchema.anyOf[1].required required',
    'tools/d.ts inputSchema.properties.o.required required'
  ])
})

t.test('descriptions too alike to choose between', async (t) => {
  const files = {
    'tools/a.ts': tool('a', 'Finds books of this shop by their title.'),
    'tools/b.ts': tool('b', 'Finds books of this shop by the title.'),
    'tools/c.ts': tool('c', 'Orders what is in a basket.')
  }
  t.strictSame(await adviceOf(t, files), [])
  const alike = { ...files, 'tools/b.ts': tool('b', 'Finds books of this shop by their own title.') }
  t.match(await check(t, alike), /tools\/b\.ts: description: advice: is almost that of a: say in both when/)
})

t.test('a list that takes much of a model\'s context', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => (
    [`tools/t${index}.ts`, tool(`t${index}`, `${index} ${'word'.repeat(800)}${'.'.repeat(index)}`)]
  )))
  const long = (await check(t, files)).split('\n').filter((line) => line.includes('long-list'))
  t.match(long, [/^tools\/t29\.ts: advice: is the longest of 30 tools that take about \d{5} tokens/])
  t.equal(long.length, 1)
})

t.test('calls that some clients cannot make', async (t) => {
  const called = (name: string, options: string, run = "() => 'x'") => ({
    [`tools/${name}.ts`]: `import { elicit, sample } from 'trivet'\n${toolModule(name, options, run)}`
  })
  const form = "async (_, ctx) => ctx.ask({ a: elicit.form({ message: 'A?', schema: { type: 'object' } }) })"
  const sampled = 'async (_, ctx) => ctx.ask({ a: sample({ messages: [], maxTokens: 9 }) })'
  const files = {
    ...called('asks', '', form),
    ...called('consents', 'relayQuestions: false', form),
    ...called('relays', 'relayQuestions: true', form),
    ...called('samples', '', sampled),
    ...called('requires', "task: 'required', timeoutMs: 60_001"),
    ...called('allows', "task: 'allowed', timeoutMs: 60_001"),
    ...called('lasts', 'timeoutMs: 60_001'),
    ...called('ends', 'timeoutMs: 60_000')
  }
  t.strictSame(await adviceOf(t, files), [
    'tools/asks.ts run unasked', 'tools/lasts.ts timeoutMs long-call', 'tools/requires.ts task tasks-only'
  ])
  const off = { ...files, 'server.yaml': 'continueTool: off\n' }
  t.strictSame(await adviceOf(t, off), ['tools/lasts.ts timeoutMs long-call'], 'without continue_call')
})

t.test('a tool with the name of one that the service adds', async (t) => {
  const files = {
    'server.yaml': 'limits: { resultBytes: { max: 4000, then: cut } }\n',
    'tools/more.ts': tool('read_more', 'Reads more of a book.')
  }
  const { out, err, exitCode } = await runProgram(['check', await writeCatalog(t, files)])
  t.equal(exitCode, 1)
  t.match(out + err, 'read_more is a tool of the service')
})

t.test('keys of other tools in front matter', async (t) => {
  const front = (lines: string) => `---\ndescription: Reviews.\n${lines}\n---\nText.`
  const prompt = `argument-hint: "[file]"
model: sonnet
allowed-tools: Read
when_to_use: often
description_zh: D
date: 2026-01-01
arguments: [{ name: a, description: A, type: string, default: x }]`
  const files = {
    'tools/a.ts': tool('a', 'Does one thing.'),
    'prompts/p.md': front(prompt),
    'skills/s/SKILL.md': front('name: s\nmodel: sonnet\nhooks: {}\nlicense: MIT')
  }
  const out = await check(t, files)
  const rule = 'advice: the front matter has keys that do nothing here:'
  const promptKeys = 'argument-hint, model, allowed-tools, when_to_use, description_zh, date, ' +
    'arguments[0].type, arguments[0].default'
  t.match(out, `prompts/p.md: ${rule} ${promptKeys} (foreign-key)\n`)
  t.match(out, `skills/s/SKILL.md: ${rule} model, hooks (foreign-key)\n`)
  t.match(out, '0 problems, 2 pieces of advice')
  const misspelt: ReadonlyArray<readonly [key: string, advice: string]> = [
    ['tilte', 'the settings are'], ['descripton', 'did you mean description?'],
    ['icon', 'did you mean icons?'],
    ['when-missing', 'did you mean whenMissing?'], ['Timeout_ms', 'did you mean timeoutMs?'],
    ['scope', 'did you mean scopes?'], ['argument', 'did you mean arguments?'], ['odrer', 'the settings are'],
    ['oauth-permission-scopes', 'the settings are'], ['trivet/audit', 'did you mean']
  ]
  for (const [key, advice] of misspelt) {
    const catalog = await writeCatalog(t, { 'prompts/p.md': front(`${key}: x`) })
    const { out: problem, exitCode } = await runProgram(['check', catalog])
    t.match(problem, `prompts/p.md: front matter: ${key}: is not known here; ${advice}`)
    t.equal(exitCode, 1)
  }
})

t.test('a skill that is left out is a problem, beside the advice about what is served', async (t) => {
  const catalog = await writeCatalog(t, {
    'tools/a.ts': tool('a.b', 'Does one thing.'), 'skills/s/SKILL.md': '---\nname: s\n---\n'
  })
  const { out, exitCode } = await runProgram(['check', catalog])
  t.match(out, 'skills/s/SKILL.md: description: is required, but missing\ntools/a.ts: name: advice:')
  t.match(out, '1 problem, 1 piece of advice')
  t.equal(exitCode, 1)
  const { runs } = JSON.parse((await runProgram(['check', catalog, '--format', 'sarif'])).out)
  t.match(runs[0].results[0], { ruleId: 'problem', level: 'error' })
})

t.test('--ignore turns advice off by its name', async (t) => {
  const files = { 'tools/a.ts': tool('a.b', 'Does one thing.', 'x: {}') }
  t.strictSame((await adviceOf(t, files)).length, 3)
  t.strictSame(await adviceOf(t, files, '--ignore', 'name', 'description'), [
    'tools/a.ts inputSchema.properties.x bare-object'
  ])
})

const SETTINGS = `import { defineDependency, defineSettings } from 'trivet'
export const settings = defineSettings({
  SHOP_URL: { type: 'string', secret: true, description: 'Where the orders are.' },
  SHOP_PAGE: { type: 'integer', default: 20 }, SHOP_NAME: { type: 'string' }
})
defineDependency({ name: 'never', settings, open: () => { throw new Error('opened') } })
`
const WITH_SETTINGS = {
  'lib/settings.ts': SETTINGS,
  'tools/a.ts': `import '../lib/settings.ts'\n${tool('a', 'Adds two numbers.')}`
}

t.test('names every setting; a missing one is advice, and dependencies stay closed', async (t) => {
  const catalog = await writeCatalog(t, WITH_SETTINGS)
  const run = async (...args: string[]) => await runProgram(['check', catalog, ...args], { SHOP_NAME: 'x' })
  const { out, exitCode } = await run()
  t.equal(exitCode, 0)
  t.equal(out, `setting SHOP_URL: required, secret, not set. Where the orders are.
setting SHOP_PAGE: optional, not set
setting SHOP_NAME: required, set
lib/settings.ts: settings: advice: SHOP_URL is not set here (missing-setting)
0 problems, 1 piece of advice
`)
  const { settings, advice } = JSON.parse((await run('--json', '--ignore', 'missing-setting')).out)
  t.strictSame(advice, [])
  t.match(settings, [
    {
      name: 'SHOP_URL',
      isSet: false,
      isSecret: true,
      isRequired: true,
      description: 'Where the orders are.',
      file: 'lib/settings.ts',
      place: 'settings'
    },
    { name: 'SHOP_PAGE', isSet: false, isSecret: false, isRequired: false },
    { name: 'SHOP_NAME', isSet: true, isSecret: false, isRequired: true }
  ])
})

t.test('a wrong value of a setting is a problem', async (t) => {
  const catalog = await writeCatalog(t, WITH_SETTINGS)
  const { out, exitCode } = await runProgram(['check', catalog], { SHOP_PAGE: 'many' })
  t.equal(exitCode, 1)
  t.match(out, /^lib\/settings\.ts: settings\.SHOP_PAGE: SHOP_PAGE: must be integer, got "many"\n1 problem,/)
})

t.test('list and diff need no settings and open nothing; call needs and opens them', async (t) => {
  const catalog = await writeCatalog(t, WITH_SETTINGS)
  t.match(await runProgram(['list', catalog]), { exitCode: 0, err: '' })
  t.match(await runProgram(['diff', catalog, catalog]), { exitCode: 0, err: '' })
  const call = async (environment: { readonly [name: string]: string }) =>
    await runProgram(['call', 'a', '--catalog', catalog], environment)
  t.match(await call({ SHOP_NAME: 'x' }), { exitCode: 1, err: /settings\.SHOP_URL: is required, but missing/ })
  t.match(await call({ SHOP_NAME: 'x', SHOP_URL: 'y' }), { exitCode: 1, err: /open: failed: opened/ })
})
