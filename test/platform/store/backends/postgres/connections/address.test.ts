// Reads the URLs of PostgreSQL.

import t from 'tap'
import {
  readPostgresUrl, type PostgresAddress
} from '../../../../../../src/platform/store/backends/postgres/connections/address.ts'

const LOCAL: PostgresAddress = {
  hosts: [{ host: 'a', port: 5432 }], user: 'u', password: '', database: 'u', sslMode: 'prefer', files: {}
}

const read: ReadonlyArray<readonly [url: string, address: PostgresAddress]> = [
  ['postgres://u@a', LOCAL],
  ['postgresql://u@a/', LOCAL],
  ['postgres://u@a/db', { ...LOCAL, database: 'db' }],
  ['postgres://u:word%3Aof%40its%2Fown@a:1/d%20b', {
    ...LOCAL, hosts: [{ host: 'a', port: 1 }], password: 'word:of@its/own', database: 'd b'
  }],
  ['postgres://u:a:b@a', { ...LOCAL, password: 'a:b' }],
  ['postgres://u@a:1,[::1]:2,10.0.0.1/db?target_session_attrs=read-write&port=7', {
    ...LOCAL,
    hosts: [{ host: 'a', port: 1 }, { host: '::1', port: 2 }, { host: '10.0.0.1', port: 7 }],
    database: 'db'
  }],
  ['postgres://u@/db?host=/run/postgresql', {
    ...LOCAL, hosts: [{ host: '/run/postgresql', port: 5432 }], database: 'db'
  }],
  ['postgres://u@/db?host=%2Frun%2Fpostgresql&port=5433', {
    ...LOCAL, hosts: [{ host: '/run/postgresql', port: 5433 }], database: 'db'
  }],
  ['postgres://u@a?passfile=/run/secrets/pgpass', { ...LOCAL, passFile: '/run/secrets/pgpass' }],
  ['postgres://u@a?sslmode=disable', { ...LOCAL, sslMode: 'disable' }],
  ['postgres://u@a?sslmode=require', { ...LOCAL, sslMode: 'require' }],
  ['postgres://u@a?sslmode=require&sslrootcert=/ca', { ...LOCAL, sslMode: 'verify-ca', files: { ca: '/ca' } }],
  ['postgres://u@a?sslmode=verify-full&sslcert=/c&sslkey=/k', {
    ...LOCAL, sslMode: 'verify-full', files: { cert: '/c', key: '/k' }
  }]
]

const refused: ReadonlyArray<readonly [url: string, problem: RegExp]> = [
  ['postgres://u:hunter2@', /the host is missing$/],
  ['postgres://u:hunter2@a/b/c', /it is not of this form$/],
  ['postgres://u:hunter2@a b', /each host must be a name or an address; the folder of a socket goes into/],
  ['postgres://u:hunter2@a:0', /a port must be from 1 to 65535$/],
  ['postgres://u:hunter2@a:99999', /a port must be from 1 to 65535$/],
  ['postgres://a/db', /before the @ there must be a user, or user:password$/],
  ['postgres://:hunter2@a/db', /before the @ there must be a user, or user:password$/],
  ['postgres://u:hunter2%@a', /the password is not percent-encoded$/],
  ['postgres://u:hunter2@a/%', /the database is not percent-encoded$/],
  ['postgres://u:hunter2@a?sslmode=allow', /sslmode must be one of disable, prefer, require, verify-ca, verify/],
  ['postgres://u:hunter2@a?sslmode=', /sslmode has no value$/],
  ['postgres://u:hunter2@a?password=hunter2', /after the \? there may be host, port, passfile, ss/],
  ['postgres://u:hunter2@a?sslcert=/c', /sslcert and sslkey need each other$/],
  ['postgres://u:hunter2@a?host=b', /it has hosts before the path and in host$/],
  ['postgres://u:hunter2@a?target_session_attrs=standby', /must be read-write or primary: the service writes$/]
]

t.test('reads each form', (t) => {
  for (const [url, address] of read) t.strictSame(readPostgresUrl(url), address, url)
  t.end()
})

t.test('says what is wrong, without the URL', (t) => {
  for (const [url, message] of refused) {
    t.throws(() => readPostgresUrl(url), { message }, url)
    t.throws(() => readPostgresUrl(url), { message: /^TRIVET_STATE_URL must be postgres:\/\/user(?!.*hunter2)/ })
  }
  t.end()
})
