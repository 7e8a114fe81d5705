import t from 'tap'
import { runProgram } from '../../helpers/program.ts'

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
