import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runToken, UsageError } from '../../src/cli/token.ts'
import { buildApp } from '../helpers/app.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { send, type Answer } from '../helpers/request.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const run = (...args: string[]) => runToken(args, NOW)

t.test('prints the line for the file, and the token apart from it', async (t) => {
  const { out, err } = run('--subject', 'ci', '--scopes', 'books:read books:write', '--expires', '2027-01-31')
  const [token = ''] = err.split('\n')
  t.match(token, /^trv_[\w-]{43}$/)
  t.notMatch(out, token)
  t.match(JSON.parse(out.slice('- '.length)), {
    subject: 'ci', scopes: ['books:read', 'books:write'], expiresAt: '2027-01-31T00:00:00.000Z'
  })
  t.match(err, 'It expires at 2027-01-31T00:00:00.000Z.')
  t.match(run('--subject', 'ci').err, 'It expires at 2026-04-01T00:00:00.000Z.', '90 days by default')
  t.not(run('--subject', 'ci').err, run('--subject', 'ci').err)
})

t.test('says what is wrong with the arguments', async (t) => {
  const cases: ReadonlyArray<readonly [args: readonly string[], problem: RegExp]> = [
    [[], /^--subject is missing\nUsage: trivet token/],
    [['--subject'], /Usage: trivet token/],
    [['--subject', 'a', '--scope', 'b'], /'--scope'[^]*Usage: trivet token/],
    [['--subject', 'a', 'b'], /'b'[^]*Usage/],
    [['--subject', 'a', '--scopes', 'a "b'], /^--scopes has "\\"b", which is no scope$/],
    [['--subject', 'a', '--expires', 'soon'], /^--expires must be a later date than today$/],
    [['--subject', 'a', '--expires', '2025-12-31'], /^--expires must be a later date than today$/]
  ]
  for (const [args, message] of cases) t.throws(() => run(...args), { constructor: UsageError, message })
})

t.test('a service lets the holder in, until the line leaves the file', async (t) => {
  const root = await writeCatalog(t, {})
  const file = join(root, 'tokens.yaml')
  const { out, err } = runToken(['--subject', 'ci', '--scopes', 'books:read'])
  await writeFile(file, out)
  const app = await buildApp(t, {
    'tools/read.ts': toolModule('read', "scopes: ['books:read']", '(_, ctx) => ctx.principal.subject')
  }, { auth: ['tokens'], authTokens: file })
  const read = async (token: string | undefined): Promise<Answer> => await send(app, {
    method: 'tools/call', params: { name: 'read', arguments: {} }, headers: { authorization: `Bearer ${token}` }
  })
  const [token] = err.split('\n')
  t.match((await read(token)).response.result.content, [{ text: 'ci' }])
  const unknown = await read(runToken(['--subject', 'ci']).err.split('\n')[0])
  t.equal(unknown.status, 401)
  t.notMatch(unknown.headers['www-authenticate'], 'resource_metadata')
  await writeFile(file, '')
  await until(async () => (await read(token)).status === 401, 'the token to be taken back')
})

t.test('a file of tokens that cannot be used stops the start', async (t) => {
  const root = await writeCatalog(t, { 'tokens.yaml': '- subject: a\n' })
  await t.rejects(buildApp(t, {}, { auth: ['tokens'], authTokens: join(root, 'none.yaml') }), {
    name: 'ConfigError', message: /none\.yaml/
  })
  await t.rejects(buildApp(t, {}, { auth: ['tokens'], authTokens: join(root, 'tokens.yaml') }), {
    name: 'ConfigError'
  })
})
