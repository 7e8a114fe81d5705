import t from 'tap'
import { runProgram } from '../../helpers/program.ts'
import { hasPostgresServer, startPostgresServer } from '../../servers/postgres-server.ts'

if (hasPostgresServer(t)) {
  t.test('the schema can be applied, and applied again', async (t) => {
    const server = await startPostgresServer(t)
    await server.sql('CREATE ROLE "the role"')
    const { out } = await runProgram(['state', 'schema', '--prefix', 'my.pre-fix', '--role', 'the role'])
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
