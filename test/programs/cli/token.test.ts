import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { runProgram } from '../../helpers/program.ts'
import { send, type Answer } from '../../helpers/request.ts'

const run = async (...args: string[]) => await runProgram(['token', ...args])

t.test('prints the line for the file, and the token apart from it', async (t) => {
  const { out, err, exitCode } = await run(
    '--subject', 'ci', '--scopes', 'books:read books:write', '--expires', '2999-01-31'
  )
  t.equal(exitCode, 0)
  const [token = ''] = err.split('\n')
  t.match(token, /^trv_[\w-]{43}$/)
  t.notMatch(out, token)
  t.match(JSON.parse(out.slice('- '.length)), {
    subject: 'ci', scopes: ['books:read', 'books:write'], expiresAt: '2999-01-31T00:00:00.000Z'
  })
  t.match(err, 'It expires at 2999-01-31T00:00:00.000Z.')
  const [first, second] = [await run('--subject', 'ci'), await run('--subject', 'ci')]
  const expiresAt = Date.parse(/It expires at (\S+)\.\n/.exec(first.err)?.[1] ?? '')
  t.ok(Math.abs(expiresAt - Date.now() - 90 * 86_400_000) < 60_000, '90 days by default')
  t.not(first.err, second.err)
})

t.test('says what is wrong with the arguments, and exits with 2', async (t) => {
  const cases: ReadonlyArray<readonly [args: readonly string[], problem: RegExp]> = [
    [[], /required option '--subject <name>'/],
    [['--subject'], /'--subject <name>' argument missing/],
    [['--subject', ''], /^--subject must not be empty$/m],
    [['--subject', 'a', '--scope', 'b'], /unknown option '--scope'\n\(Did you mean --scopes\?\)/],
    [['--subject', 'a', 'b'], /too many arguments/],
    [['--subject', 'a', '--scopes', 'a "b'], /^--scopes has "\\"b", which is no scope$/m],
    [['--subject', 'a', '--expires', 'soon'], /^--expires must be a later date than today$/m],
    [['--subject', 'a', '--expires', '2999-02-31'], /^--expires is a day that does not exist$/m],
    [['--subject', 'a', '--expires', '2025-12-31'], /^--expires must be a later date than today$/m]
  ]
  for (const [args, message] of cases) {
    const { out, err, exitCode } = await run(...args)
    t.match(err, message)
    t.strictSame([exitCode, out], [2, ''])
  }
})

t.test('a service lets the holder in, until the line leaves the file', async (t) => {
  const root = await writeCatalog(t, {})
  const file = join(root, 'tokens.yaml')
  const { out, err } = await run('--subject', 'ci', '--scopes', 'books:read')
  await writeFile(file, out)
  const app = await buildApp(t, {
    'tools/read.ts': toolModule('read', "scopes: ['books:read']", '(_, ctx) => ctx.principal.subject')
  }, { auth: ['tokens'], authTokens: file })
  const read = async (token: string | undefined): Promise<Answer> => await send(app, {
    method: 'tools/call', params: { name: 'read', arguments: {} }, headers: { authorization: `Bearer ${token}` }
  })
  const [token] = err.split('\n')
  t.match((await read(token)).response.result.content, [{ text: 'ci' }])
  const unknown = await read((await run('--subject', 'ci')).err.split('\n')[0])
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
