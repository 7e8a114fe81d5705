// `trivet call`: a tool from the terminal.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findMisspelt } from '../../../src/programs/cli/call-arguments.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'
import { runService } from '../../helpers/service.ts'

const PROPERTIES = `inputSchema: { type: 'object', properties: {
  text: { type: 'string' }, count: { type: 'integer' }, list: { type: 'array', items: { type: 'integer' } }
} }`
const ASKS = `
import { defineTool, elicit } from 'trivet'
const schema = { type: 'object', properties: { size: { type: 'string' } } }
export default defineTool({ name: 'asks', description: 'Asks.', run: async (_, ctx) => {
  const { size } = await ctx.ask({ size: elicit.form({ message: 'Which size?', schema }) })
  return size.content.size
} })
`
const SAYS = "(_, ctx) => { ctx.progress(1, 2, 'half'); ctx.log.info('a line'); return 'done' }"
const catalog = await writeCatalog(t, {
  'tools/echo.ts': toolModule('echo', PROPERTIES, '(args) => args'),
  'tools/says.ts': toolModule('says', '', SAYS),
  'tools/who.ts': toolModule(
    'who', "scopes: ['a'], whenMissing: 'challenge'", '(_, { principal }) => principal.subject'
  ),
  'tools/hidden.ts': toolModule('hidden', "scopes: ['a']"),
  'tools/fails.ts': toolModule('fails', '', "() => { throw new ToolError('no such thing') }"),
  'tools/breaks.ts': toolModule('breaks', '', "() => { throw new Error('inside') }"),
  'tools/lies.ts': toolModule('lies', "outputSchema: { type: 'object', required: ['n'] }", '() => ({})'),
  'tools/asks.ts': ASKS,
  'tools/reports.ts': ASKS.replace("name: 'asks'", "name: 'reports'")
    .replace('  const {', '  ctx.progress(1, 2)\n  const {')
    .replace('  return', '  ctx.progress(2, 2)\n  return')
})
const run = async (...args: string[]) => {
  const { out, err, exitCode } = await runProgram(['call', ...args], { TRIVET_CATALOG: catalog })
  return { out, err, exitCode }
}

t.test('arguments are strings where the schema says so, else JSON', async (t) => {
  const { out, exitCode } = await run('echo', 'text=12', 'count=3', 'list=[1,2]')
  t.equal(exitCode, 0)
  t.strictSame(JSON.parse(out), { text: '12', count: 3, list: [1, 2] })
  t.strictSame(JSON.parse((await run('echo', 'text=a=b', 'other=plain words')).out), {
    text: 'a=b', other: 'plain words'
  })
})

t.test('progress and log messages go to standard error', async (t) => {
  const { out, err } = await run('says')
  t.strictSame([out, err], ['done\n', 'progress 1 of 2: half\ninfo: a line\n'])
  t.match(JSON.parse((await run('says', '--json')).out), {
    isError: false, text: 'done', progress: [{ progress: 1 }]
  })
})

t.test('progress is told once, although the handler runs again after an answer', async (t) => {
  const { err } = await run('reports', '--answer', 'size={"size":"large"}')
  t.equal(err, 'progress 1 of 2\nprogress 2 of 2\n')
  const { out } = await run('reports', '--json', '--answer', 'size={"size":"large"}')
  t.strictSame(JSON.parse(out).progress, [{ progress: 1, total: 2 }, { progress: 2, total: 2 }])
})

t.test('a misspelt argument that an open schema accepts is told', async (t) => {
  const inputSchema = { type: 'object', properties: { count: {}, name: {} } }
  t.strictSame(findMisspelt({ cont: 2, other: 1, name: 'a' }, inputSchema), [
    'cont is not in the schema of the tool: did you mean count?'
  ])
  t.strictSame(findMisspelt({ cont: 2, count: 2 }, inputSchema), [], 'both are there')
  const closed = { ...inputSchema, additionalProperties: false }
  t.strictSame(findMisspelt({ cont: 2 }, closed), [], 'the check tells')
  const { err, exitCode } = await run('echo', 'cont=2')
  t.strictSame([err, exitCode], ['cont is not in the schema of the tool: did you mean count?\n', 0])
})

t.test('the caller has the subject and the scopes of the flags', async (t) => {
  t.equal((await run('who', '--subject', 'ada', '--scopes', 'a b')).out, 'ada\n')
  t.match(await run('who'), { exitCode: 1, err: /^Insufficient scope: this needs a\n$/ })
  const hint = /^Tool hidden not found\nThis caller sees no such tool\. A tool with scopes needs --scopes "a b"\.\n$/
  t.match(await run('hidden'), { exitCode: 1, err: hint })
  t.equal((await run('hidden', '--scopes', 'a')).out, 'ok\n')
  t.equal((await run('echoo')).err, 'Tool echoo not found. Did you mean echo?\n')
})

t.test('a question is answered by a flag or a file, or said with how to answer it', async (t) => {
  t.equal((await run('asks', '--answer', 'size={"size":"large"}')).out, 'large\n')
  const declined = await run('asks', '--answer', 'size=decline')
  t.match(declined, { exitCode: 1, err: /^Internal error: TypeError: / })
  const file = join(t.testdir({}), 'answers.json')
  await writeFile(file, '{ "size": { "size": "small" } }')
  t.equal((await run('asks', '--answers', file)).out, 'small\n')
  t.equal((await run('asks', '--answers', file, '--answer', 'size={"size":"large"}')).out, 'large\n')
  t.strictSame(await run('asks'), {
    out: '',
    err: 'The tool asks "size" (form): Which size?\n' +
      "Answer it at a terminal, or with --answer 'size={\"field\":\"value\"}' or --answers FILE\n",
    exitCode: 2
  })
  t.match(await run('asks', '--answer', 'sizes={"size":"large"}'), {
    exitCode: 2, err: 'Which size?\nThe tool has not asked sizes: did you mean size?\nAnswer it'
  })
  const misfit = await run('asks', '--answer', 'size={"size":7}')
  t.match(misfit, { exitCode: 2, err: /Which size\?\nthe answer does not fit: size: must be string.*\nAnswer it/ })
  const unasked = await run('echo', '--answer', 'size=accept')
  t.match(unasked, { exitCode: 2, err: '--answer size: the tool has not' })
})

t.test('an error of the handler has its cause and the line of the author', async (t) => {
  const { err } = await run('breaks')
  t.match(err, /^Internal error: Error: inside at .*tools\/breaks\.ts:2:\d+\n$/)
  const noLine = await run('lies')
  t.match(noLine.err, /^Internal error: ContractError: tools\/lies\.ts: .* outputSchema: n: is required[^\n]*\n$/)
  t.notMatch(noLine.err, / at \//)
})

t.test('an error while modules load is a problem of the catalog, and no stack', async (t) => {
  for (const source of ["throw new Error('at once')", "setImmediate(() => { throw new Error('at once') })"]) {
    const broken = await writeCatalog(t, { 'tools/a.ts': `${source}\n${toolModule('a')}` })
    const { code, stdout, stderr } = await runService({}, { args: ['call', 'a', '--catalog', broken] })
    t.strictSame([code, stdout], [1, ''])
    t.match(stderr, /^The catalog does not load:\n.*at once/)
    t.notMatch(stderr, /\n\s+at /)
  }
})

t.test('--json has errors on standard output, with the exit code', async (t) => {
  const cases: ReadonlyArray<readonly [args: readonly string[], code: string, exitCode: number]> = [
    [['breaks'], 'request', 1], [['asks'], 'question', 2], [['echo', 'text'], 'usage', 2],
    [[], 'usage', 2], [['echo', '--unknown'], 'usage', 2]
  ]
  for (const [args, code, exitCode] of cases) {
    const { out, err, exitCode: exited } = await run(...args, '--json')
    t.match(JSON.parse(out), { error: { code, exitCode, message: String } }, args.join(' '))
    t.strictSame([exited, err], [exitCode, ''])
  }
})

t.test('what fails makes the exit code 1, what is misused 2', async (t) => {
  t.strictSame(await run('fails'), { out: 'The tool failed: no such thing\n', err: '', exitCode: 1 })
  t.match(await run('breaks'), { exitCode: 1, err: /^Internal error/ })
  t.match(await run('nothing'), { exitCode: 1, err: /nothing/ })
  t.match(await run('echo', 'count=many'), { exitCode: 1, out: /^The tool failed: Invalid arguments for echo/ })
  t.match(await run('echo', 'text'), { exitCode: 2, err: /^an argument must have the form .* got "text"$/m })
  t.match(await run('asks', '--answer', 'size=large'), { exitCode: 2, err: /^--answer size must be the content of a form/ })
  t.match(await run(), { exitCode: 2, err: /missing required argument 'tool'/ })
})

t.test('a result gives the terminal no orders, and its JSON keeps its value', async (t) => {
  const order = '\u001b[2J\u009b2J\u202e'
  const catalog = await writeCatalog(t, {
    'tools/a.ts': toolModule('a', '', `() => ${JSON.stringify(`one\n${order}two`)}`),
    'tools/b.ts': toolModule('b', '', `() => ({ text: ${JSON.stringify(order)} })`),
    'tools/c.ts': toolModule('c', '', `() => { throw new Error(${JSON.stringify(order)}) }`)
  })
  const callHere = async (...args: string[]) => {
    const { out, err } = await runProgram(['call', ...args, '--catalog', catalog])
    t.notMatch(out + err, /[^\P{C}\n]/u)
    return out
  }
  t.match(await callHere('a'), /^one\n.*two\n$/)
  t.strictSame(JSON.parse(await callHere('b')), { text: order })
  t.strictSame(JSON.parse(await callHere('b', '--json')).structuredContent, { text: order })
  await callHere('c')
  await callHere(order)
})

t.test('content beside structured content is shown', async (t) => {
  const catalog = await writeCatalog(t, {
    'tools/a.ts': `import { defineTool, toolResult } from 'trivet'
      const content = [{ type: 'text', text: 'Three are left.' }, { type: 'text', text: '{"left":3}' }]
      export default defineTool({
        name: 'a', description: 'A.', run: () => toolResult({ content, structuredContent: { left: 3 } })
      })`
  })
  const { out } = await runProgram(['call', 'a', '--catalog', catalog])
  t.equal(out, '{\n  "left": 3\n}\nThree are left.\n')
})

t.test('a host without a scheme is told what it lacks, and an abbreviation what it may mean', async (t) => {
  for (const host of ['localhost:3000/mcp', '127.0.0.1:3000', 'mcp.example.com:443/mcp', '[::1]:3000/mcp']) {
    for (const args of [['call', host, 'echo'], ['list', host], ['diff', host, host]]) {
      const { err, exitCode } = await runProgram(args, { TRIVET_CATALOG: catalog })
      t.equal(err, `${host} has no http:// or https:// before it: write http://${host}\n`)
      t.equal(exitCode, 2)
    }
  }
  t.match((await run('echo', 'txt=a')).err, /^txt is not in the schema of the tool: did you mean text\?\n/)
})
