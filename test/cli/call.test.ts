// `trivet call`: a tool from the terminal.

import t from 'tap'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { runProgram } from '../helpers/program.ts'

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
  'tools/fails.ts': toolModule('fails', '', "() => { throw new ToolError('no such thing') }"),
  'tools/breaks.ts': toolModule('breaks', '', "() => { throw new Error('inside') }"),
  'tools/asks.ts': ASKS
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

t.test('progress and log messages come before the result', async (t) => {
  t.equal((await run('says')).out, 'progress 1 of 2: half\ninfo: a line\ndone\n')
  t.match(JSON.parse((await run('says', '--json')).out), {
    isError: false, text: 'done', progress: [{ progress: 1 }]
  })
})

t.test('the caller has the subject and the scopes of the flags', async (t) => {
  t.equal((await run('who', '--subject', 'ada', '--scopes', 'a b')).out, 'ada\n')
  t.match(await run('who'), { exitCode: 1, err: /^Insufficient scope: this needs a\n$/ })
})

t.test('a question is answered by a flag, or said with how to answer it', async (t) => {
  t.equal((await run('asks', '--answer', 'size={"size":"large"}')).out, 'large\n')
  const { out, err, exitCode } = await run('asks')
  t.strictSame([out, exitCode], ['', 1])
  t.equal(err, 'The tool asks "size" (form): Which size?\n' +
    "Answer a form with --answer 'size={\"field\":\"value\"}'\n")
})

t.test('what fails makes the exit code 1, what is misused 2', async (t) => {
  t.strictSame(await run('fails'), { out: 'The tool failed: no such thing\n', err: '', exitCode: 1 })
  t.match(await run('breaks'), { exitCode: 1, err: 'Internal error\n' })
  t.match(await run('nothing'), { exitCode: 1, err: /nothing/ })
  t.match(await run('echo', 'count=many'), { exitCode: 1, out: /^The tool failed: Invalid arguments for echo/ })
  t.match(await run('echo', 'text'), { exitCode: 2, err: /^an argument must have the form .* got "text"$/m })
  t.match(await run('asks', '--answer', 'size=large'), { exitCode: 2, err: /^--answer size must have JSON/ })
  t.match(await run(), { exitCode: 2, err: /missing required argument 'tool'/ })
})
