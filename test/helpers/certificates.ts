// Certificates that nobody but themselves has signed.

import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { hasPrograms } from '../servers/programs.ts'

const run = promisify(execFile)

/** Whether certificates can be made here. See `hasPrograms`. */
export function hasOpenssl (t: Test): boolean {
  return hasPrograms(t, ['openssl'], 'openssl')
}

/**
 * Writes `NAME.key` and `NAME.crt`, which everyone may read.
 * @param names whom the certificate is for, such as `DNS:localhost,IP:::1`
 */
export async function makeCertificate (
  folder: string, name: string, subject: string, names: string
): Promise<void> {
  await run('openssl', [
    'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`), '-subj', `/CN=${subject}`,
    '-addext', `subjectAltName=${names}`
  ])
  await chmod(join(folder, `${name}.key`), 0o644)
}
