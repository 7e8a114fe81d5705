// Glewlwyd: an identity server of OpenID Connect that others wrote, in C. https://github.com/babelouest/glewlwyd

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { exportJWK, generateKeyPair } from 'jose'
import type { Test } from 'tap'
import { makeFolder } from '../helpers/folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from './programs.ts'

export interface Glewlwyd {
  readonly issuer: string
  readonly origin: string
  /** Signs alice in, who allows what is asked. Resolves to where she comes back. */
  signIn (url: URL): Promise<URL>
}

const TABLES = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3'
const MODULES = '/usr/lib/glewlwyd'

/** Whether it can be started here. See `hasPrograms`. */
export function hasGlewlwyd (t: Test): boolean {
  return hasPrograms(t, ['glewlwyd', 'sqlite3'], 'glewlwyd and sqlite3')
}

export async function startGlewlwyd (t: Test, redirectUri: string): Promise<Glewlwyd> {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const issuer = `${origin}/api/oidc`
  const folder = await makeFolder(t)
  const database = join(folder, 'glewlwyd.db')
  execFileSync('sqlite3', [database], { input: await readFile(TABLES) })
  const file = join(folder, 'glewlwyd.conf')
  await writeFile(file, toConfig(port, database))
  const server = spawn('glewlwyd', [`--config-file=${file}`], { stdio: 'ignore' })
  t.teardown(async () => {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  })

  /** Calls the API with the cookies of a browser. */
  async function call (
    cookies: Map<string, string>, method: string, path: string, body?: object
  ): Promise<Response> {
    const response = await fetch(new URL(path, `${origin}/api/`), {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json', cookie: [...cookies].map((pair) => pair.join('=')).join('; ')
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response
  }

  for (let attempt = 1; ; attempt++) {
    const isUp = await fetch(`${origin}/config/`).then(() => true, () => false)
    if (isUp) break
    if (attempt === 100) throw new Error('glewlwyd does not start')
    await pause(50)
  }
  const admin = new Map<string, string>()
  await setUp(async (method, path, body) => await call(admin, method, path, body), issuer, redirectUri)
  return {
    issuer,
    origin,
    async signIn (url) {
      const cookies = new Map<string, string>()
      // Its page, which is a program in the browser, does the same.
      await call(cookies, 'POST', 'auth/', { username: 'alice', password: 'alice-password' })
      await call(cookies, 'PUT', 'auth/grant/trivet/', { scope: 'openid' })
      const { headers } = await call(cookies, 'GET', `${url.href}&g_continue`)
      return new URL(headers.get('location') ?? '', url)
    }
  }
}

async function setUp (
  call: (method: string, path: string, body: object) => Promise<Response>, issuer: string, redirectUri: string
): Promise<void> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...await exportJWK(privateKey), alg: 'RS256', use: 'sig', kid: 'one' }
  await call('POST', 'auth/', { username: 'admin', password: 'password' })
  await call('POST', 'mod/plugin/', {
    module: 'oidc',
    name: 'oidc',
    display_name: 'OpenID Connect',
    parameters: {
      iss: issuer,
      'jwt-type': 'rsa',
      'jwt-key-size': '256',
      'jwks-private': JSON.stringify({ keys: [key] }),
      'default-kid': 'one',
      'access-token-duration': 600,
      'refresh-token-duration': 86_400,
      'code-duration': 60,
      'refresh-token-rolling': true,
      'auth-type-code-enabled': true,
      'auth-type-refresh-enabled': true,
      'subject-type': 'public',
      'pkce-allowed': true,
      'pkce-required': true,
      claims: [{ name: 'department', 'user-property': 'name', type: 'string', mandatory: true }]
    }
  })
  await call('POST', 'client/', {
    client_id: 'trivet',
    name: 'Trivet',
    confidential: true,
    client_secret: 'trivet-secret',
    redirect_uri: [redirectUri],
    authorization_type: ['code', 'refresh_token'],
    token_endpoint_auth_method: ['client_secret_basic'],
    scope: ['openid'],
    enabled: true
  })
  await call('POST', 'user/', {
    username: 'alice', name: 'Books', password: 'alice-password', scope: ['openid'], enabled: true
  })
}

function toConfig (port: number, database: string): string {
  const folders = { user: 'user', client: 'client', user_auth_scheme: 'scheme', plugin: 'plugin' }
  return [
    `port=${port}`,
    'bind_address="127.0.0.1"',
    `external_url="http://127.0.0.1:${port}"`,
    'login_url="login.html"',
    'api_prefix="api"',
    'log_mode="console"',
    'log_level="NONE"',
    'cookie_secure=0',
    'session_key="SESSION"',
    'admin_scope="g_admin"',
    'profile_scope="g_profile"',
    ...Object.entries(folders).map(([kind, name]) => `${kind}_module_path="${MODULES}/${name}"`),
    'hash_algorithm="SHA512"',
    `database={ type="sqlite3" path="${database}" };`
  ].join('\n')
}
