// What TLS checks, by the mode of the URL.

import type { ConnectionOptions } from 'node:tls'
import { readPlainFile } from '../../../../../base/file-system.ts'
import { codeOf, messageOf } from '../../../../../base/words.ts'
import type { PostgresAddress } from './address.ts'

/**
 * Reads the files of the certificates. `undefined` for a connection without TLS. Rejects with an Error that
 * names the parameter whose file cannot be read.
 *
 * `prefer` and `require` check no certificate, as libpq means them. `verify-ca` checks who has signed it,
 * `verify-full` also its name. Without `sslrootcert` the authorities are those of Node.js.
 */
export async function readTls ({ sslMode, files }: PostgresAddress): Promise<ConnectionOptions | undefined> {
  if (sslMode === 'disable') return undefined
  const [ca, cert, key] = await Promise.all([
    // `system` means the authorities that the system trusts.
    files.ca === 'system' ? undefined : read('sslrootcert', files.ca),
    read('sslcert', files.cert),
    read('sslkey', files.key)
  ])
  return {
    rejectUnauthorized: sslMode === 'verify-ca' || sslMode === 'verify-full',
    ...sslMode === 'verify-ca' && { checkServerIdentity: () => undefined },
    ...ca !== undefined && { ca },
    ...cert !== undefined && { cert },
    ...key !== undefined && { key }
  }
}

async function read (parameter: string, file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined
  try {
    return await readPlainFile(file)
  } catch (error) {
    const problem = `the file of ${parameter} cannot be read (${String(codeOf(error) ?? messageOf(error))})`
    throw new Error(`TRIVET_STATE_URL: ${problem}. Correct its path or its rights`)
  }
}
