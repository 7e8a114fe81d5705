import t from 'tap'
import { runProgram } from '../../helpers/program.ts'
import { hasPostgresServer, startPostgresServer } from '../../servers/postgres-server.ts'

const run = async (...args: string[]) => await runProgram(['state', ...args])

t.test('says what is wrong with the arguments', async (t) => {
  const cases: ReadonlyArray<readonly [args: readonly string[], problem: RegExp, exitCode: number]> = [
    [[], /missing required argument 'action'/, 2],
    [['other'], /Allowed choices are schema/, 2],
    [['schema', '--prefix', 'a b'], /^the prefix must have 1 to 64 letters/m, 2],
    [['schema', '--role', ''], /^--role must not be empty$/m, 2],
    [['schema', '--prefix', 'pg_x'], /^TRIVET_STATE_PREFIX names a schema of PostgreSQL: it must/m, 1]
  ]
  for (const [args, message, code] of cases) {
    const { out, err, exitCode } = await run(...args)
    t.match(err, message)
    t.strictSame([exitCode, out], [code, ''])
  }
})

t.test('prints the schema of the prefix', async (t) => {
  const { out, exitCode } = await run('schema', '--prefix', 'my.pre-fix')
  t.equal(exitCode, 0)
  t.match(out, 'CREATE SCHEMA "my.pre-fix";')
  t.notMatch(out, 'GRANT')
  t.match((await run('schema')).out, 'CREATE SCHEMA "trivet";')
})

if (hasPostgresServer(t)) {
  t.test('the schema can be applied, and applied again', async (t) => {
    const server = await startPostgresServer(t)
    await server.sql('CREATE ROLE "the role"')
    const { out } = await run('schema', '--prefix', 'my.pre-fix', '--role', 'the role')
    await server.sql(out)
    await server.sql('INSERT INTO "my.pre-fix".due_times VALUES (\'a\', 1, 1)')
    await server.sql(out)
    t.strictSame(await server.sql('SELECT entry FROM "my.pre-fix".due_times'), [['a']])
    t.strictSame(await server.sql('SELECT version, oldest_user FROM "my.pre-fix".versions'), [[1, 1]])
    t.strictSame(await server.sql(
      "SELECT has_table_privilege('the role', '\"my.pre-fix\".records', 'DELETE')"
    ), [[true]])
  })
}
