// What the log of `trivet dev` says of each call: arguments, result and missing scopes. The log of `serve`
// has none of it.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { runProgram } from '../../helpers/program.ts'
import { startService, type Service } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'

const SETTING = 'a "secret" of the settings'
const PASSWORD = 'canary4711'
const KEYS = `
import { defineSettings, defineTool } from 'trivet'
const settings = defineSettings({ KEY: { type: 'string', secret: true, description: 'A key' } })
export default defineTool({ name: 'keys', description: 'Shows the key.', run: (_, ctx) => {
  const { KEY } = ctx.settings(settings)
  return 'The key is ' + KEY + ', as JSON ' + JSON.stringify({ KEY })
} })
`
const OPEN = "inputSchema: { type: 'object' }"
const SIGN_IN = `inputSchema: { type: 'object', properties: {
  user: { type: 'string' }, phrase: { type: 'string', format: 'password', maxLength: 12 }
} }`

const catalog = await writeCatalog(t, {
  'tools/echo.ts': toolModule('echo', OPEN, '(args) => ({ got: args })'),
  'tools/words.ts': toolModule('words', '', "() => 'one\\ntwo'"),
  'tools/fails.ts': toolModule('fails', OPEN, "() => { throw new ToolError('no such thing') }"),
  'tools/keys.ts': KEYS,
  'tools/sign-in.ts': toolModule('sign_in', SIGN_IN, "({ phrase }) => 'Signed in by ' + phrase"),
  'tools/write.ts': toolModule('write', "scopes: ['a:read', 'a:write'], whenMissing: 'challenge'"),
  'tools/hidden.ts': toolModule('hidden', "scopes: ['b:write']"),
  'prompts/ask.md': '---\narguments:\n  - name: topic\n---\nTell me of {{topic}}.\n',
  'resources/a.txt': 'the text of a file'
})

const CALLS: ReadonlyArray<readonly [method: string, params: { readonly [name: string]: unknown }]> = [
  ['tools/call', { name: 'echo', arguments: { count: 2, text: 'b'.repeat(100), on: true } }],
  ['tools/call', { name: 'words' }],
  ['tools/call', { name: 'fails', arguments: { id: 7 } }],
  ['tools/call', { name: 'nothing' }],
  ['tools/call', { name: 'write' }],
  ['tools/call', { name: 'hidden' }],
  ['tools/call', { name: 'keys' }],
  ['tools/call', { name: 'sign_in', arguments: { user: 'ada', phrase: PASSWORD } }],
  ['tools/call', { name: 'sign_in', arguments: { user: 'ada', phrase: `${PASSWORD}-and-more` } }],
  ['prompts/get', { name: 'ask', arguments: { topic: 'whales' } }],
  ['resources/read', { uri: 'file:///a.txt' }],
  ['tools/list', {}]
]

async function callAll (t: Test, { url }: Service, headers: { readonly [name: string]: string } = {}) {
  for (const [method, params] of CALLS) await post(t, url, { method, params, headers })
}

/** Starts the service with the token of a caller who has one scope. */
async function start (t: Test, command: 'dev' | 'serve', level: string) {
  const { out, err } = await runProgram(['token', '--subject', 'ada', '--scopes', 'a:read'])
  const tokens = join(await makeFolder(t), 'tokens.yaml')
  await writeFile(tokens, out)
  const service = await startService(t, {
    TRIVET_LOG_LEVEL: level, TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: tokens, KEY: SETTING
  }, { args: [command, catalog] })
  const [token = ''] = err.split('\n')
  return { service, headers: { authorization: `Bearer ${token}` } }
}

t.test('dev shows the arguments and the result of each call, on one line each', async (t) => {
  const { service, headers } = await start(t, 'dev', 'info')
  await callAll(t, service, headers)
  const printed = () => stripVTControlCharacters(service.stdout())
  await until(() => /tools\/list 200/.test(printed()), 'the last line')
  // Without the clock and the time of a request.
  const lines = printed().split('\n').map((line) => line.replace(/^\d\S+ (.*) \S+ ms$/, '$1 ms'))
  const calls = lines.slice(lines.findIndex((line) => line.startsWith('tools/call')))
  const text = `${'b'.repeat(31)}…`
  t.strictSame(calls, [
    'tools/call echo 200 ms',
    `  arguments {"count":2,"text":"${text}","on":true}`,
    `  result {"got":{"count":2,"text":"${text}","on":true}}`,
    'tools/call words 200 ms',
    '  result "one\\ntwo"',
    'tools/call fails 200 tool_error ms',
    '  arguments {"id":7}',
    '  result "no such thing"',
    'tools/call 200 invalid error -32602 ms',
    '  error "Tool nothing not found"',
    'tools/call write 403 denied error 403 ms',
    '  needs the scopes a:read a:write; the caller has a:read',
    'tools/call hidden 200 denied error -32602 ms',
    '  error "Tool hidden not found"',
    '  needs the scope b:write; the caller has a:read',
    'tools/call keys 200 ms',
    '  result "The key is [redacted], as JSON {\\"KEY\\":\\"[redacted]\\"}"',
    'tools/call sign_in 200 ms',
    '  arguments {"user":"ada","phrase":"[redacted]"}',
    '  result "Signed in by [redacted]"',
    'tools/call sign_in 200 tool_error ms',
    '  arguments {"user":"ada","phrase":"[redacted]"}',
    calls.find((line) => line.includes('Invalid arguments for sign_in')),
    'prompts/get ask 200 ms',
    '  arguments {"topic":"whales"}',
    '  result "Tell me of whales."',
    'resources/read file:///a.txt 200 ms',
    '  result "the text of a file"',
    'tools/list 200 ms',
    ''
  ])
  t.notMatch(printed(), PASSWORD)
  t.notMatch(printed(), 'of the settings')
  for (const line of calls.filter((line) => line.startsWith('  '))) t.ok(line.length <= 80, line)
})

t.test('dev shows no calls at a level above info', async (t) => {
  const { service, headers } = await start(t, 'dev', 'warn')
  await callAll(t, service, headers)
  await service.stop()
  t.match(service.stdout(), ' serves ')
  t.notMatch(service.stdout(), /arguments|result|whales|needs the/)
})

t.test('the log of serve has no arguments, no results and no scopes of callers', async (t) => {
  const { service, headers } = await start(t, 'serve', 'trace')
  await callAll(t, service, headers)
  await until(() => /"method":"tools\/list"/.test(service.stdout()), 'the last line')
  t.match(service.stdout(), /"method":"tools\/call","name":"echo"/)
  const shown = /"arguments"|"result"|whales|bbbb|no such thing|Signed in|text of a file|a:read|Inspector/
  t.notMatch(service.stdout(), shown)
})
