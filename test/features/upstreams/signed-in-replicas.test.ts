// Tasks that call an upstream as their user, and go on on another replica.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CLIENT } from './tokens/exchange-setup.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'
import { TaskClient } from '../tasks/task-client.ts'
import { keeping, later, textOf } from './later-calls.ts'
import { RESOURCE, signFor, startCrm, startIssuer } from './signed-in.ts'
import { crmModule } from './upstream-server.ts'

async function startReplica (t: Test, environment: { readonly [variable: string]: string }) {
  const service = await startService(t, environment)
  const kill = async () => await service.stop('SIGKILL')
  return { ...service, kill }
}

t.test('another replica calls as the user after the first one was killed', async (t) => {
  if (!hasRedisServer(t)) return
  const folder = await makeFolder(t)
  const redis = await startRedisServer(t, { folder, isDurable: true })
  const issued: string[] = []
  const issuer = await startIssuer(t, {
    hasRefreshTokens: true, rotates: true, ttlSeconds: 1, onToken: (token) => issued.push(token)
  }, { tokenTtlSeconds: 1 })
  const crm = await startCrm(t, issuer)
  const environment = {
    TRIVET_CATALOG: await writeCatalog(t, {
      'lib/crm.ts': crmModule(crm.url, keeping(true)),
      'tools/later.ts': later([3000, 1200], "onReplicaLoss: 'rerun',")
    }),
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'the secret that all replicas of the test have',
    TRIVET_TASK_LEASE_MS: '1000',
    TRIVET_AUTH: 'jwt',
    TRIVET_AUTH_ISSUERS: issuer.issuer,
    TRIVET_AUTH_CLIENT_ID: CLIENT.clientId,
    TRIVET_AUTH_CLIENT_SECRET: CLIENT.secret,
    TRIVET_PUBLIC_URL: RESOURCE,
    TRIVET_LOG_LEVEL: 'trace'
  }
  const [first, second] = await Promise.all([startReplica(t, environment), startReplica(t, environment)])
  const token = await signFor(issuer, 'alice')
  const clientOf = (url: string) => {
    return new TaskClient(async (parts) => await post(t, url, parts), { user: `Bearer ${token}` })
  }
  const { taskId } = await clientOf(first.url).call('later')
  await pause(1000)
  await first.kill()
  const task = await clientOf(second.url).until(taskId, 'completed', 30_000)
  t.equal(textOf(task), 'alice alice alice')
  const told = [
    first.stdout(), second.stdout(), JSON.stringify(task),
    await readFile(join(folder, 'appendonlydir', 'appendonly.aof.1.incr.aof'), 'latin1')
  ].join('\n')
  t.match(told, taskId.slice('task_'.length, 12), 'the file has what was written')
  for (const one of [...issued, ...crm.taken, token, CLIENT.secret]) {
    t.notOk(told.includes(one.split('.').at(-1) ?? ''), 'no token in the store, in the log or in the task')
  }
})
