// A master of Redis that another has replaced acknowledges nothing, also while it does not know it.

import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { readRedisUrl } from '../../../../../src/platform/store/backends/redis/address.ts'
import { ReplicaAcks } from '../../../../../src/platform/store/backends/redis/replica-acks.ts'
import { isNamedByMost } from '../../../../../src/platform/store/backends/redis/sentinel-votes.ts'
import { startRedisFailover } from '../../../../servers/redis-failover.ts'
import { hasRedisServer } from '../../../../servers/redis-server.ts'

interface Place { readonly host: string, readonly port: number }

const NOBODY = { host: '127.0.0.1', port: 1 }

function connect (t: Test, port: number): Redis {
  const client = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

async function isNamed (client: Redis, places: readonly Place[], name: string): Promise<boolean> {
  const open = () => places.map((place) => new Redis({ ...place, lazyConnect: true, retryStrategy: null }))
  return await isNamedByMost(client, open, name)
}

if (hasRedisServer(t)) {
  t.test('a former master that starts again acknowledges nothing, though it is a master', async (t) => {
    const { url, master, replica, masterPort, cutOffReplica, failedOver } = await startRedisFailover(t)
    const { hosts, master: name } = readRedisUrl(url)
    const [first, second] = hosts
    if (first === undefined || second === undefined) throw new TypeError(url)
    const before = connect(t, masterPort)
    t.equal(await isNamed(before, hosts, name), true)
    t.equal(await isNamed(before, [first, second, NOBODY], name), true, 'two of three')
    t.equal(await isNamed(before, [first, NOBODY], name), false, 'one of two')
    t.equal(await isNamed(before, [NOBODY], name), false)
    t.equal(await isNamed(before, hosts, 'other'), false, 'another name')
    t.equal(await isNamed(connect(t, master.port), hosts, name), true, 'at another address, by its run id')
    t.equal(await isNamed(connect(t, replica.port), hosts, name), false, 'its replica')

    cutOffReplica()
    await master.kill()
    await failedOver()
    await master.restart()
    const [former, next] = [connect(t, masterPort), connect(t, replica.port)]
    t.match(await former.call('INFO', 'replication'), /role:master/, 'it does not know of the other')
    const confirm = async (client: Redis) => {
      const acks = new ReplicaAcks(client, 'trivet', async () => await isNamed(client, hosts, name))
      return await acks.confirm(true)
    }
    await t.rejects(confirm(former), /has no replicas, and too few Sentinels name it as the master/)
    await confirm(next)
  })
}
