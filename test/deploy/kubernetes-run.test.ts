// The built service with the environment and the volumes of the Deployment, as a cluster would start it.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createStaticToken } from '../../src/platform/access/static-token-file.ts'
import { adminOriginOf } from '../helpers/admin.ts'
import { toolModule, writeVolume, type Files } from '../helpers/catalog-folder.ts'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import {
  environmentOf, expand, findManifest, readManifests, readMountedCatalog
} from '../helpers/manifests.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'

const PASSWORD = '0123456789abcdef'
const manifests = await readManifests()
const deployment = findManifest(manifests, 'Deployment')
const { spec: pod } = deployment.spec.template
const [container] = pod.containers
const catalog = await readMountedCatalog(deployment)

/** Makes a folder for each mounted volume. `mounted` has the files of each. */
async function mountAll (
  t: Test, mounted: { readonly [volume: string]: Files }
): Promise<Array<readonly [mountPath: string, folder: string]>> {
  return await Promise.all(container.volumeMounts.map(async ({ name, mountPath }: Message) => {
    const folder = await makeFolder(t)
    await writeVolume(folder, '1', mounted[name] ?? {})
    return [mountPath, folder] as const
  }))
}

if (hasRedisServer(t)) {
  t.test('serves with a token, loads a changed ConfigMap, and stops in time', async (t) => {
    const { args } = findManifest(manifests, 'StatefulSet', 'trivet-redis').spec.template.spec.containers[0]
    const redis = await startRedisServer(t, {
      password: PASSWORD,
      args: args.slice(1).map((one: string) => expand(one, { REDIS_PASSWORD: PASSWORD }))
    })
    const { token, entry } = createStaticToken({
      subject: 'ci', scopes: [], expiresAt: new Date(Date.now() + 600_000)
    })
    const mounts = await mountAll(t, { catalog, tokens: { 'tokens.yaml': `${entry}\n` } })
    const folderOf = (path: string) => mounts.find(([mountPath]) => mountPath === path)?.[1] ?? ''
    const replaced = [...mounts, ['trivet-redis:6379', `127.0.0.1:${redis.port}`] as const]
    const environment = environmentOf(deployment, {
      secrets: 'a secret of at least thirty-two characters', 'redis-password': PASSWORD
    })
    for (const [name, value] of Object.entries(environment)) {
      const [from, to] = replaced.find(([address]) => value.includes(address)) ?? ['', '']
      environment[name] = value.replace(from, to)
    }
    const service = await startService(t, {
      TRIVET_LOG_LEVEL: '',
      ...environment,
      TRIVET_CATALOG: folderOf('/catalog'),
      TRIVET_ADMIN_HOST: '127.0.0.1',
      TRIVET_ADMIN_PORT: '0'
    })
    const origin = new URL(service.url).origin
    const call = async (name: string, args: object = {}) => (await post(t, service.url, {
      method: 'tools/call',
      params: { name, arguments: args },
      headers: { authorization: `Bearer ${token}` }
    })).response

    const { startupProbe, readinessProbe, livenessProbe } = container
    for (const { httpGet: { path } } of [startupProbe, readinessProbe, livenessProbe]) {
      t.equal((await fetch(origin + path)).status, 200, path)
    }
    const admin = await adminOriginOf(service)
    const scraped = deployment.spec.template.metadata.annotations['prometheus.io/path']
    t.match(await (await fetch(admin + scraped)).text(), /^trivet_running_requests 0$/m)
    t.equal((await post(t, service.url, { method: 'tools/list' })).status, 401)
    t.equal((await call('roll_dice', { count: 3 })).result.structuredContent.dice.length, 3)
    t.match(service.stdout(), /Dice serves 1 tool, 1 prompt, 1 resource and 1 resource template"/)

    const [root, log] = [folderOf('/catalog'), folderOf('/etc/trivet/log')]
    await writeVolume(root, '2', { ...catalog, 'tools/roll-dice.ts': toolModule('flip') })
    await until(async () => (await call('flip')).result !== undefined, 'the changed catalog', 30_000)

    await writeVolume(log, '2', { level: 'debug\n' })
    t.ok(await readFile(join(log, 'level'), 'utf8'))
    service.child.kill('SIGHUP')
    await until(() => service.stdout().includes('"from":"info","to":"debug"'), 'the level of the ConfigMap')

    const graceMs = pod.terminationGracePeriodSeconds * 1000
    t.equal(await within(service.stop(), 'the exit', graceMs), 0)
  })
}
