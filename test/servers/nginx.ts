// A real nginx for one test, configured by docker-compose.yml.

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeFolder } from '../helpers/folder.ts'
import { readComposition, startProxy, swapTexts } from './proxy.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from './programs.ts'

/** The path on Debian. The PATH of many users does not include it. */
const DEBIAN_PATH = '/usr/sbin/nginx'
const PROGRAM = existsSync(DEBIAN_PATH) ? DEBIAN_PATH : 'nginx'
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** What the profile `tls` of the composition adds. */
interface NginxTls {
  /** The port of the loopback interface at which nginx listens with TLS. */
  readonly port: number
  /** Has the certificate and its key. */
  readonly folder: string
}

/** Whether nginx can be started here. See `hasPrograms`. */
export function hasNginx (t: Test): boolean {
  return hasPrograms(t, [PROGRAM], 'nginx')
}

/**
 * Starts nginx. The replicas trivet-1, trivet-2 and so on are at these ports of the loopback interface.
 * Resolves to the origin of nginx, which is stopped when the test ends.
 */
export async function startNginx (
  t: Test, replicaPorts: readonly number[], tls?: NginxTls
): Promise<string> {
  const { configs } = await readComposition()
  const folder = await makeFolder(t)
  const listen = join(folder, 'listen')
  await mkdir(listen)
  if (tls !== undefined) {
    await writeFile(join(listen, 'tls.conf'), swapTexts(configs['nginx-tls'].content, [
      ['listen 8443 ', `listen 127.0.0.1:${tls.port} `], ['/etc/nginx/tls/', `${tls.folder}/`]
    ]))
  }
  const port = await findFreePort()
  const file = join(folder, 'nginx.conf')
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ')
  await writeFile(file, swapTexts(configs.nginx.content, [
    ['http {', `http { ${paths}`],
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    ['/etc/nginx/listen/', `${listen}/`],
    ...replicaPorts.map((replicaPort, index) => [
      // Debian's nginx has no `resolve`, and an address needs none.
      `server trivet-${index + 1}:3000 resolve `, `server 127.0.0.1:${replicaPort} `
    ] as const)
  ]))
  // Workers of another user could not read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const settings = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr; ${user}`
  return await startProxy(t, { program: PROGRAM, args: ['-p', folder, '-c', file, '-g', settings], port })
}
