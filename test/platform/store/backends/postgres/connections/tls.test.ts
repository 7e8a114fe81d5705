// TLS as the modes of libpq mean it.
// https://www.postgresql.org/docs/current/libpq-ssl.html

import { chmod, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  readPostgresUrl
} from '../../../../../../src/platform/store/backends/postgres/connections/address.ts'
import {
  connect, createTarget
} from '../../../../../../src/platform/store/backends/postgres/connections/connection.ts'
import { readTls } from '../../../../../../src/platform/store/backends/postgres/connections/tls.ts'
import { makeCertificate } from '../../../../../helpers/certificates.ts'
import { makeFolder } from '../../../../../helpers/folder.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../../servers/postgres-server.ts'

/** Resolves to whether the connection is encrypted. */
async function isEncrypted (server: PostgresServer, host: string, parameters: string): Promise<unknown> {
  const place = host === '' ? '' : `${host}:${server.port}`
  const address = readPostgresUrl(`postgres://postgres@${place}/postgres?${parameters}`)
  const connection = await connect(createTarget(address, await readTls(address), () => {}))
  try {
    const [[isSsl] = []] = await connection.runText(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    )
    return isSsl
  } finally {
    await connection.close()
  }
}

async function startTls (t: Test, folder: string, access: readonly string[]): Promise<PostgresServer> {
  const files = await makeFolder(t)
  await chmod(files, 0o755)
  for (const name of ['server.crt', 'server.key', 'client.crt']) {
    await copyFile(join(folder, name), join(files, name))
    // A key that root owns may be read by a group. The server of the test is another account.
    await chmod(join(files, name), 0o644)
  }
  return await startPostgresServer(t, {
    access,
    certificates: files,
    settings: ['ssl = on', "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'",
      "ssl_ca_file = 'client.crt'"]
  })
}

if (hasPostgresServer(t)) {
  const folder = await makeFolder(t)
  await chmod(folder, 0o755)
  await makeCertificate(folder, 'server', 'localhost', 'DNS:localhost')
  await makeCertificate(folder, 'other', 'localhost', 'DNS:localhost')
  await makeCertificate(folder, 'client', 'postgres', 'DNS:postgres')
  const ca = `sslrootcert=${join(folder, 'server.crt')}`
  const otherCa = `sslrootcert=${join(folder, 'other.crt')}`

  t.test('a server with TLS', async (t) => {
    const server = await startTls(t, folder, ['host all all 127.0.0.1/32 trust'])
    const rows: ReadonlyArray<readonly [host: string, parameters: string, expected: boolean | RegExp]> = [
      ['127.0.0.1', 'sslmode=disable', false],
      ['127.0.0.1', 'sslmode=prefer', true],
      ['127.0.0.1', '', true],
      ['127.0.0.1', 'sslmode=require', true],
      ['127.0.0.1', `sslmode=require&${otherCa}`, /self-signed|self signed/],
      ['127.0.0.1', 'sslmode=verify-ca', /self-signed|self signed/],
      ['127.0.0.1', `sslmode=verify-ca&${ca}`, true],
      ['127.0.0.1', `sslmode=verify-full&${ca}`, /IP|127\.0\.0\.1/],
      ['localhost', `sslmode=verify-full&${ca}`, true],
      ['localhost', `sslmode=verify-full&${otherCa}`, /self-signed|self signed/],
      ['localhost', 'sslmode=verify-full&sslrootcert=system', /self-signed|self signed/],
      ['localhost', 'sslmode=verify-full&sslrootcert=/none', /the file of sslrootcert cannot be read \(ENOENT\)/]
    ]
    for (const [host, parameters, expected] of rows) {
      const result = isEncrypted(server, host, parameters)
      if (expected instanceof RegExp) await t.rejects(result, { message: expected }, `${host} ${parameters}`)
      else t.equal(await result, expected, `${host} ${parameters}`)
    }
    const socket = `sslmode=require&host=${server.folder}&port=${server.port}`
    t.equal(await isEncrypted(server, '', socket), false, 'a Unix socket needs none')
  })

  t.test('a certificate of the client', async (t) => {
    const server = await startTls(t, folder, ['hostssl all all 127.0.0.1/32 cert'])
    const own = `sslcert=${join(folder, 'client.crt')}&sslkey=${join(folder, 'client.key')}`
    t.equal(await isEncrypted(server, '127.0.0.1', `sslmode=require&${own}`), true)
    await t.rejects(isEncrypted(server, '127.0.0.1', 'sslmode=require'), { message: /certificate/ })
  })

  t.test('a server without TLS', async (t) => {
    const server = await startPostgresServer(t)
    t.equal(await isEncrypted(server, '127.0.0.1', 'sslmode=prefer'), false)
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      await t.rejects(isEncrypted(server, '127.0.0.1', `sslmode=${mode}`), { message: /does not support SSL/ })
    }
  })
}
