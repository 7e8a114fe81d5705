// The components of deploy/kubernetes, built by kubectl on top of the base.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/ops/config/config.ts'
import { SETTINGS } from '../../src/ops/config/settings.ts'
import { BASE, environmentOf, findManifest, type Manifest } from '../helpers/manifests.ts'
import { findInvalidValues, findTypeProblems } from '../helpers/published-types.ts'
import type { Message } from '../helpers/request.ts'
import { readComposition } from '../servers/proxy.ts'
import { hasPrograms } from '../servers/programs.ts'

const SECRET = {
  secrets: 'a secret of at least thirty-two characters',
  'redis-password': 'pw',
  's3-access-key-id': 'id',
  's3-secret-access-key': 'key'
}

function build (): Manifest[] {
  const overlay = join(BASE, '..', 'overlays', 'production')
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout).map((document): Message => document.toJS())
}

if (hasPrograms(t, ['kubectl'], 'kubernetes-client')) {
  const built = build()
  const deployment = findManifest(built, 'Deployment')
  const { services, configs } = await readComposition()

  t.test('every object is valid, and has only fields that its kind has', async (t) => {
    for (const one of built) t.strictSame(await findInvalidValues(one), [], one.kind)
    t.strictSame(findTypeProblems(built), [])
    const wrong = structuredClone(findManifest(built, 'PodMonitor'))
    wrong.spec.podMetricsEndpoints[0].interval = 'often'
    t.match(await findInvalidValues(wrong), [/interval/], 'and the checks can fail')
  })

  t.test('the variables of all components are valid together', (t) => {
    const variables = environmentOf(deployment, SECRET)
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key, ...environment } = variables
    t.strictSame([id, key], ['id', 'key'])
    const { publicUrl, filesUrl, allowedHosts } = readConfig(environment)
    t.match(filesUrl, /^s3:/)
    const hosts = built.filter(({ kind }) => kind === 'Ingress').flatMap(({ spec }) => [
      ...spec.tls.flatMap((one: Message) => one.hosts), ...spec.rules.map((one: Message) => one.host)
    ])
    const names = new Set([...hosts, ...allowedHosts, new URL(publicUrl ?? '').hostname])
    t.strictSame([...names], ['mcp.example.com'])
    t.end()
  })

  t.test('the Ingress waits, and takes as much, as nginx does in docker-compose.yml', (t) => {
    const { content }: { readonly content: string } = configs.nginx
    const [main, files] = ['trivet', 'trivet-files'].map((name) => findManifest(built, 'Ingress', name))
    const of = ({ metadata }: Manifest = {}, name: string) =>
      metadata.annotations[`nginx.ingress.kubernetes.io/${name}`]
    for (const one of [main, files]) {
      t.equal(`${of(one, 'proxy-read-timeout')}s`, /proxy_read_timeout (\w+);/.exec(content)?.[1])
      t.ok(Number(of(one, 'proxy-read-timeout')) * 1000 > SETTINGS.requestTimeoutMs.fallback)
    }
    const sizes = [...content.matchAll(/client_max_body_size (\w+);/g)].map(([, size]) => size)
    t.strictSame([of(main, 'proxy-body-size'), of(files, 'proxy-body-size')], sizes)
    t.equal(of(main, 'proxy-next-upstream'), /proxy_next_upstream ([^;]+);/.exec(content)?.[1])
    t.equal(files?.spec.rules[0].http.paths[0].path, '/mcp/files')
    t.end()
  })

  t.test('Prometheus finds the replicas in one way', (t) => {
    const { selector, podMetricsEndpoints: [{ port, path }] } = findManifest(built, 'PodMonitor').spec
    t.strictSame(selector.matchLabels, deployment.spec.template.metadata.labels)
    const names = deployment.spec.template.spec.containers[0].ports.map(({ name }: Message) => name)
    t.ok(names.includes(port))
    t.equal(path, '/metrics')
    t.notOk('prometheus.io/scrape' in (deployment.spec.template.metadata.annotations ?? {}))
    t.end()
  })

  t.test('the backup reaches Redis, and may do no more than other containers', (t) => {
    const { spec: { template } } = findManifest(built, 'CronJob', 'trivet-redis-backup').spec.jobTemplate
    const { spec: policy } = findManifest(built, 'NetworkPolicy', 'trivet-redis-backup')
    const { ingress: [{ from }], podSelector } = policy
    t.strictSame(from[0].podSelector.matchLabels, template.metadata.labels)
    const redis = findManifest(built, 'StatefulSet', 'trivet-redis').spec.template
    t.strictSame(podSelector.matchLabels, redis.metadata.labels)
    const [{ image, securityContext, command, volumeMounts: [mount] }] = template.spec.containers
    t.equal(image, services.redis.image)
    t.strictSame(securityContext, redis.spec.containers[0].securityContext)
    t.strictSame(template.spec.securityContext, redis.spec.securityContext)
    t.ok(command.at(-1).includes(`${mount.mountPath}/part.rdb`))
    t.end()
  })

  t.test('no address of the metadata services can be reached, in either family', (t) => {
    const blocks = findManifest(built, 'NetworkPolicy').spec.egress.flatMap(({ to }: Message) => to)
      .flatMap(({ ipBlock }: Message) => ipBlock ?? [])
    t.strictSame(blocks.map(({ cidr }: Message) => cidr), ['0.0.0.0/0', '::/0'])
    for (const { except } of blocks) t.ok(except.length > 0)
    t.end()
  })
}
