// The objects of deploy/kubernetes, against the schemas of Kubernetes and against the service.

import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/ops/config/config.ts'
import { SETTINGS } from '../../src/ops/config/settings.ts'
import { buildMetered, linesOf } from '../helpers/admin.ts'
import {
  BASE, environmentOf, findManifest, listBase, readKustomization, readManifests, readMountedCatalog
} from '../helpers/manifests.ts'
import { readComposition } from '../servers/proxy.ts'
import { findInvalidValues, findTypeProblems } from '../helpers/published-types.ts'
import { hasPrograms } from '../servers/programs.ts'
import type { Message } from '../helpers/request.ts'

const readText = async (path: string) =>
  await readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

const manifests = await readManifests()
const kustomization = await readKustomization()
const deployment = findManifest(manifests, 'Deployment')
const redis = findManifest(manifests, 'StatefulSet', 'trivet-redis')
const { spec: pod } = deployment.spec.template
const [container] = pod.containers
const SECRET = {
  secrets: 'a secret of at least thirty-two characters', 'redis-password': 'pw', 'tokens.yaml': ''
}
const environment = environmentOf(deployment, SECRET)

t.test('every object is valid, and has only fields that its kind has', async (t) => {
  t.ok(manifests.length >= 8)
  for (const one of manifests) t.strictSame(await findInvalidValues(one), [], one.kind)
  t.strictSame(findTypeProblems(manifests), [])

  const wrong = structuredClone(deployment)
  wrong.spec.template.spec.containers[0].ports[0].containerPort = '3000'
  t.match(await findInvalidValues(wrong), [/containerPort must be integer/], 'and the checks can fail')
  const misspelled = structuredClone(deployment)
  misspelled.spec.template.spec.containers[0].readinessProb = {}
  t.match(findTypeProblems([misspelled]), [/'"?readinessProb"?' does not exist in type/])
})

t.test('the kustomization names every file of the folder', async (t) => {
  const { resources, configMapGenerator: [{ files }] } = kustomization
  const sources = files.map((one: string) => one.split('=')[1])
  t.strictSame([...resources, ...sources, 'kustomization.yaml'].toSorted(), await listBase())
})

t.test('the volume of the catalog has each file at its path', async (t) => {
  const mounted = await readMountedCatalog(deployment)
  t.strictSame(Object.keys(mounted).toSorted(), await listBase('catalog'))
  for (const [path, text] of Object.entries(mounted)) {
    t.equal(text, await readFile(join(BASE, 'catalog', path), 'utf8'), path)
  }
  const { configMapGenerator: [{ name, files }], generatorOptions } = kustomization
  t.strictSame(generatorOptions, { disableNameSuffixHash: true }, 'running replicas load a change')
  const volume = pod.volumes.find((one: Message) => one.configMap?.name === name)
  t.equal(volume.name, container.volumeMounts.find(({ mountPath }: Message) => mountPath === '/catalog').name)
  t.ok(files.every((one: string) => /^[\w.-]+=/.test(one)), 'and its keys are valid')
})

t.test('kubectl builds the same objects', async (t) => {
  if (!hasPrograms(t, ['kubectl'], 'kubernetes-client')) return
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', BASE], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  const built = parseAllDocuments(stdout).map((document): Message => document.toJS())
  const [map] = built.filter(({ kind }) => kind === 'ConfigMap')
  t.equal(built.length, manifests.length + 1)
  t.strictSame(
    Object.values(map.data).toSorted(), Object.values(await readMountedCatalog(deployment)).toSorted()
  )
  for (const one of manifests) {
    const same = findManifest(built, one.kind, one.metadata.name)
    // kubectl replaces the name of the image.
    const images = ({ spec }: Message) => spec.template?.spec.containers.map(({ image }: Message) => image)
    if (one === deployment) t.strictSame(images(same), ['registry.example.com/trivet:0.1.0'])
    else t.strictSame(same, one, one.kind)
  }
})

t.test('the component puts the state into PostgreSQL, and leaves Redis out', async (t) => {
  if (!hasPrograms(t, ['kubectl'], 'kubernetes-client')) return
  const overlay = join(BASE, '..', 'overlays', 'postgres')
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  const built = parseAllDocuments(stdout).map((document): Message => document.toJS())
  for (const one of built) t.strictSame(await findInvalidValues(one), [], one.kind)
  t.strictSame(built.filter(({ metadata }) => metadata.name === 'trivet-redis'), [])
  t.equal(built.length, manifests.length + 1 - 4)

  const url = 'postgres://trivet:pw@postgres.example.com/trivet?sslmode=verify-full'
  const variables = environmentOf(findManifest(built, 'Deployment'), { ...SECRET, 'postgres-url': url })
  t.notOk('REDIS_PASSWORD' in variables)
  t.equal(readConfig(variables).stateUrl, url)
  const { egress } = findManifest(built, 'NetworkPolicy').spec
  const ports = egress.flatMap((one: Message) => one.ports.map(({ port }: Message) => port))
  t.strictSame(ports, [53, 53, 5432, 443])
})

t.test('every variable is a setting, and all together are valid in the image', async (t) => {
  const known = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))
  t.strictSame(Object.keys(environment).filter((name) => !known.has(name)), ['REDIS_PASSWORD'])
  const [, image = ''] = /^ENV (.*)$/m.exec(await readText('Dockerfile')) ?? []
  const ofImage = Object.fromEntries(image.split(' ').map((pair) => pair.split('=')))
  const config = readConfig({ ...ofImage, ...environment })
  t.equal(config.stateUrl, 'redis://:pw@trivet-redis:6379')
  t.ok(findManifest(manifests, 'Service', 'trivet-redis'), 'which is the name of a service')
  t.not(config.auth[0], 'none')

  const ports = Object.fromEntries(
    container.ports.map(({ name, containerPort }: Message) => [name, containerPort])
  )
  t.strictSame(ports, { mcp: config.port, admin: config.adminPort })
  t.match(deployment.spec.template.metadata.annotations, {
    'prometheus.io/scrape': 'true',
    'prometheus.io/port': String(config.adminPort),
    'prometheus.io/path': '/metrics'
  })
  t.equal(container.volumeMounts[0].mountPath, config.catalog)
  const timeoutsMs = config.drainMs + config.shutdownTimeoutMs
  t.ok(pod.terminationGracePeriodSeconds * 1000 >= timeoutsMs + 5000)
  t.equal(pod.enableServiceLinks, false, 'no variable comes from a service')
})

t.test('probes ask the service: /livez to start and to live, /readyz to get requests', async (t) => {
  const { startupProbe, readinessProbe, livenessProbe } = container
  const asked = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => Object.values(httpGet))
  t.strictSame(asked, [['/livez', 'mcp'], ['/readyz', 'mcp'], ['/livez', 'mcp']])
})

t.test('containers may do no more than in docker-compose.yml', async (t) => {
  const { 'x-replica': replica } = await readComposition()
  t.match(replica, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  for (const { spec } of [deployment, redis]) {
    const { securityContext, automountServiceAccountToken, containers: [only] } = spec.template.spec
    t.match(securityContext, {
      runAsNonRoot: true, runAsUser: Number, seccompProfile: { type: 'RuntimeDefault' }
    })
    t.strictSame(only.securityContext, {
      allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] }
    })
    t.equal(automountServiceAccountToken, false)
  }
  const writable = container.volumeMounts.filter(({ readOnly }: Message) => readOnly !== true)
  t.strictSame(writable.map(({ mountPath }: Message) => mountPath), replica.tmpfs)
})

t.test('the Redis is as durable as in docker-compose.yml', async (t) => {
  const { services } = await readComposition()
  const [{ args }] = redis.spec.template.spec.containers
  t.strictSame(args.slice(0, -2).join(' '), services.redis.command)
  t.equal(redis.spec.template.spec.containers[0].image, services.redis.image)
})

t.test('every selector finds the pods that it means, and every port has a name there', async (t) => {
  for (const [workload, name] of [[deployment, 'trivet'], [redis, 'trivet-redis']] as const) {
    const { metadata: { labels }, spec } = workload.spec.template
    t.strictSame(workload.spec.selector.matchLabels, labels)
    const service = findManifest(manifests, 'Service', name)
    t.strictSame(service.spec.selector, labels)
    const policy = findManifest(manifests, 'NetworkPolicy', name)
    t.strictSame(policy.spec.podSelector.matchLabels, labels)
    const names = spec.containers[0].ports.map((one: Message) => one.name)
    const used = [
      ...service.spec.ports.map(({ targetPort }: Message) => targetPort),
      ...policy.spec.ingress.flatMap(({ ports }: Message) => ports.map(({ port }: Message) => port))
    ]
    t.strictSame(used.filter((one) => !names.includes(one)), [])
  }
  const { labels } = deployment.spec.template.metadata
  for (const [workload, name] of [[deployment, 'trivet'], [redis, 'trivet-redis']] as const) {
    const { selector } = findManifest(manifests, 'PodDisruptionBudget', name).spec
    t.strictSame(selector.matchLabels, workload.spec.template.metadata.labels)
  }
  for (const { labelSelector: { matchLabels } } of pod.topologySpreadConstraints) {
    t.strictSame(matchLabels, labels)
  }
  const { ingress } = findManifest(manifests, 'NetworkPolicy', 'trivet-redis').spec
  t.strictSame(ingress[0].from[0].podSelector.matchLabels, labels)
  const { egress } = findManifest(manifests, 'NetworkPolicy').spec
  t.ok(egress.some(({ to, ports }: Message) => ports[0].port === 6379 &&
    to[0].podSelector.matchLabels['app.kubernetes.io/name'] === 'trivet-redis'))
  t.equal(redis.spec.serviceName, 'trivet-redis')
})

t.test('the autoscaler reads a metric that the service has', async (t) => {
  const { scaleTargetRef, minReplicas, metrics: [{ pods }, { resource }] } =
    findManifest(manifests, 'HorizontalPodAutoscaler').spec
  t.match(scaleTargetRef, { kind: 'Deployment', name: deployment.metadata.name })
  t.equal(minReplicas, 3)
  t.notOk('replicas' in deployment.spec, 'and nothing else sets the number of replicas')
  const { readMetrics } = await buildMetered(t, {})
  t.equal(linesOf(await readMetrics(), pods.metric.name).length, 1)
  const { rules: { custom: [{ seriesQuery }] } } = parse(await readText('deploy/prometheus/adapter.yaml'))
  t.ok(seriesQuery.startsWith(`${pods.metric.name}{`), 'under its name, which the adapter keeps')
  t.ok(container.resources.requests[resource.name], 'a share needs a request')
})

t.test('no secret is in the tree, and deploy/README.md makes the one that is used', async (t) => {
  t.strictSame(manifests.filter(({ kind }) => kind === 'Secret'), [])
  const used = [deployment, redis].flatMap(({ spec: { template: { spec } } }) => [
    ...spec.containers[0].env.flatMap(({ valueFrom }: Message) => valueFrom?.secretKeyRef ?? []),
    ...(spec.volumes ?? []).flatMap(({ secret }: Message) => {
      return secret?.items.map(({ key }: Message) => ({ name: secret.secretName, key })) ?? []
    })
  ])
  const readme = await readText('deploy/README.md')
  const [command = ''] = /kubectl create secret generic trivet .*/.exec(readme) ?? []
  const made = [...command.matchAll(/--from-(?:literal|file)=([\w.-]+)/g)].map(([, key]) => key)
  t.ok(used.every(({ name }) => name === 'trivet'))
  t.strictSame([...new Set(used.map(({ key }) => key))].toSorted(), made.toSorted())
})
