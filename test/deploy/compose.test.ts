// What docker-compose.yml adds with its profiles: TLS, and Prometheus with Grafana.

import { execFile, spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig } from '../../src/ops/config/config.ts'
import { SETTINGS } from '../../src/ops/config/settings.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasNginx, startNginx } from '../servers/nginx.ts'
import { readComposition } from '../servers/proxy.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from '../servers/programs.ts'
import type { Message } from '../helpers/request.ts'
import { startService } from '../helpers/service.ts'

const run = promisify(execFile)
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const readYaml = async (path: string): Promise<Message> => parse(await readFile(pathOf(path), 'utf8'))
const SECRET = 'a secret of at least thirty-two characters'
const PROMETHEUS = 'deploy/prometheus/prometheus.yml'
const composition = await readComposition()
const { services } = composition

t.test('proxies wait longer than a handler may be silent', async (t) => {
  const texts: string[] = [composition.configs.nginx.content, composition.configs.haproxy.content]
  const seconds = texts.flatMap(
    (text) => [...text.matchAll(/(?:proxy_read_timeout|timeout (?:client|server)) (\d+)s/g)].map(([, one]) => Number(one))
  )
  t.equal(seconds.length, 3)
  const { fallback } = SETTINGS.requestTimeoutMs
  for (const one of seconds) t.ok(one * 1000 > fallback, `${one} s, and ${fallback} ms`)
})

t.test('nginx finds a replica that was re-created, at its new address', (t) => {
  const { content } = composition.configs.nginx
  const [, major, minor, patch] = /^nginx:(\d+)\.(\d+)(?:\.(\d+))?-/.exec(services.nginx.image) ?? []
  const version = [major, minor, patch].reduce((sum, part) => sum * 1000 + Number(part ?? 0), 0)
  t.ok(version >= 1_027_003, 'which knows resolve')
  const upstreams: string[] = content.match(/upstream \w+ \{[^}]*\}/g)
  t.equal(upstreams.length, 2)
  for (const upstream of upstreams) {
    t.match(upstream, /zone \w+ \d+k;/)
    for (const [server] of upstream.matchAll(/server [^;]*;/g)) t.match(server, ' resolve ')
  }
  t.match(content, /resolver 127\.0\.0\.11 /, 'by the DNS of Docker')
  t.end()
})

t.test('nginx serves the official client over TLS, with a certificate as in deploy/README.md', async (t) => {
  if (!hasNginx(t) || !hasPrograms(t, ['openssl'], 'openssl')) return
  const folder = await makeFolder(t)
  const readme = await readFile(pathOf('deploy/README.md'), 'utf8')
  const [command = ''] = /openssl req .*/.exec(readme) ?? []
  await run('sh', ['-c', command.replaceAll('deploy/tls', folder)])
  t.strictSame((await readdir(folder)).toSorted(), ['cert.pem', 'key.pem'])

  const [service, port] = [
    await startService(t, { TRIVET_CATALOG: pathOf('catalog'), ...replicaSettings() }), await findFreePort()
  ]
  const replicaPort = Number(new URL(service.url).port)
  await startNginx(t, [replicaPort, replicaPort, replicaPort], { port, folder })
  const client = async (trusted: { readonly [variable: string]: string }) => await run(
    process.execPath, [pathOf('test/helpers/tls-client.mjs'), `https://localhost:${port}/mcp`],
    { env: { PATH: process.env.PATH ?? '', ...trusted } }
  )
  const { stdout } = await client({ NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') })
  t.match(JSON.parse(stdout), { books: [{ id: 'moby-dick' }] })
  await t.rejects(client({}), /self-signed|fetch failed/, 'and nobody trusts it without the certificate')
})

/** Those of a replica that do not depend on other containers. */
function replicaSettings (): { readonly [variable: string]: string } {
  const { TRIVET_AUTH, TRIVET_ALLOWED_HOSTS, TRIVET_TRUSTED_PROXIES } = composition['x-replica'].environment
  return { TRIVET_AUTH, TRIVET_ALLOWED_HOSTS, TRIVET_TRUSTED_PROXIES }
}

t.test('only ports of this machine are published, and no admin address', async (t) => {
  for (const [name, { ports = [] }] of Object.entries<Message>(services)) {
    for (const port of ports) t.match(port, /^127\.0\.0\.1:\d+:(?:8080|8443|9090|3000)$/, name)
    if (name.startsWith('trivet-')) t.strictSame(ports, [])
  }
  const { TRIVET_ADMIN_PORT: adminPort, TRIVET_ADMIN_HOST: host } = composition['x-replica'].environment
  t.equal(host, '0.0.0.0', 'other containers reach it')
  const { scrape_configs: [{ static_configs: [{ targets }] }] } = await readYaml(PROMETHEUS)
  const replicas = Object.keys(services).filter((name) => name.startsWith('trivet-'))
  t.strictSame(targets, replicas.map((name) => `${name}:${adminPort}`))
})

t.test('profiles start only what is asked for', async (t) => {
  const profiles = Object.entries<Message>(services).map(([name, one]) => [name, one.profiles?.join() ?? ''])
  t.match(Object.fromEntries(profiles), {
    nginx: '',
    redis: '',
    postgres: 'postgres',
    haproxy: 'haproxy',
    'nginx-tls': 'tls',
    prometheus: 'monitoring',
    grafana: 'monitoring'
  })
})

t.test('the state can be in PostgreSQL, by the commands of deploy/README.md', async (t) => {
  const readme = await readFile(pathOf('deploy/README.md'), 'utf8')
  const [, text = ''] = /export TRIVET_STATE_URL=(\S+)/.exec(readme) ?? []
  const { stateUrl } = readConfig({ TRIVET_STATE_URL: text, TRIVET_SECRETS: SECRET })
  const { username, hostname, pathname } = new URL(stateUrl)
  const { environment, healthcheck } = services[hostname]
  t.equal(username, environment.POSTGRES_USER)
  t.equal(pathname, `/${environment.POSTGRES_USER}`, 'the database that the image makes by default')
  t.match(environment.POSTGRES_PASSWORD, 'POSTGRES_PASSWORD:-', 'the server does not start without one')
  t.ok(healthcheck.test.includes(username))
  const { environment: replica, depends_on: needed } = composition['x-replica']
  t.match(replica.TRIVET_STATE_URL, 'TRIVET_STATE_URL:-redis://redis:6379')
  t.strictSame(needed[hostname], { condition: 'service_healthy', required: false })
})

t.test('Grafana finds Prometheus and the dashboard', async (t) => {
  const { volumes, environment } = services.grafana
  const mounted = new Map(volumes.map((one: string) => one.split(':').slice(0, 2).toReversed()))
  const folder = 'deploy/grafana/provisioning'
  const { providers: [{ options: { path } }] } = await readYaml(`${folder}/dashboards/trivet.yaml`)
  t.equal(mounted.get(`${path}/dashboard.json`), './deploy/grafana/dashboard.json')
  t.ok(mounted.has(environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH))
  const { datasources: [source] } = await readYaml(`${folder}/datasources/prometheus.yaml`)
  t.match(source, { type: 'prometheus', isDefault: true, url: 'http://prometheus:9090' })
  const { global } = await readYaml(PROMETHEUS)
  t.equal(source.jsonData.timeInterval, global.scrape_interval)
})

t.test('promtool accepts the configuration of Prometheus', async (t) => {
  if (!hasPrograms(t, ['promtool'], 'prometheus')) return
  const args = ['check', 'config', pathOf(PROMETHEUS)]
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  t.equal(status, 0, stdout + stderr)
  t.match(stdout, '1 rule files found')
})
