import t from 'tap'
import {
  hasCode, PostgresError, throwAsUnavailable, toPostgresError
} from '../../../../../src/platform/store/backends/postgres/postgres-error.ts'

const errorOf = (message: string, members: object) => Object.assign(new Error(message), members)

t.test('keeps the message and the code, and no detail', (t) => {
  const error = toPostgresError(errorOf('duplicate key value violates unique constraint "records_pkey"', {
    code: '23505', detail: 'Key (name)=(canary) already exists.', where: 'canary', hint: 'canary'
  }))
  t.notMatch(JSON.stringify([error, error.message, error.stack]), /canary/)
  t.equal(error.code, '23505')
  t.match(error.stack, /^PostgresError: duplicate key value violates unique constraint …\n\s+at /)
  t.equal(toPostgresError(error), error)
  t.end()
})

t.test('drops data that messages quote', (t) => {
  const error = toPostgresError(errorOf('invalid input syntax for type bigint: "canary"', { code: '22P02' }))
  t.equal(error.message, 'invalid input syntax for type bigint: …')
  t.match(toPostgresError('canary').message, 'the driver threw a value that is not an error')
  const refused = new AggregateError([errorOf('connect ECONNREFUSED ::1', {}), errorOf('and more', {})])
  t.equal(toPostgresError(refused).message, 'connect ECONNREFUSED ::1, and more')
  t.end()
})

t.test('a mistake in a statement is no outage', (t) => {
  for (const code of ['42703', '42601', '22P02', '54000']) {
    t.throws(() => throwAsUnavailable(errorOf('a', { code })), { name: 'PostgresError', code })
  }
  const outages = [
    undefined, '57014', '55P03', '53300', '53100', '25006', '42501', '42P01', '42883', '3F000', '40001',
    'ECONNREFUSED'
  ]
  for (const code of outages) {
    t.throws(() => throwAsUnavailable(errorOf('a', { code })), { name: 'StoreUnavailable', cause: { code } })
  }
  t.equal(hasCode(new PostgresError('a', '42P05'), '26000', '42P05'), true)
  t.equal(hasCode(new PostgresError('a'), '26000'), false)
  t.end()
})
