// Moves slots of a Redis cluster from node to node, as `redis-cli --cluster reshard` does.
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#live-resharding-with-redirection

import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import type { RedisServer } from './redis-server.ts'

export interface Slots {
  /** The keys of all nodes. */
  keys (): Promise<readonly string[]>
  /** Moves the slot of a key, or of a sharded channel, to another node while clients use it. */
  move (key: string): Promise<void>
}

/** @param halfwayMs how long the keys of a slot are on both nodes, in milliseconds. */
export function openSlots (t: Test, servers: readonly RedisServer[], halfwayMs: number): Slots {
  const nodes = servers.map(({ port }) => ({ port, redis: new Redis({ port, host: '127.0.0.1' }) }))
  t.teardown(() => { for (const { redis } of nodes) redis.disconnect() })

  /** The index of the node that has the slot. */
  async function findOwner (slot: number): Promise<number> {
    const ranges = await nodes[0]?.redis.cluster('SLOTS')
    const [, , node] = ranges?.find(([first, last]) => first <= slot && slot <= last) ?? []
    return nodes.findIndex(({ port }) => port === node?.[1])
  }

  return {
    async keys () {
      return (await Promise.all(nodes.map(async ({ redis }) => await redis.keys('*')))).flat()
    },
    async move (key) {
      const slot = Number(await nodes[0]?.redis.call('CLUSTER', 'KEYSLOT', key))
      const owner = await findOwner(slot)
      const [source, target, ...others] = [...nodes.slice(owner), ...nodes.slice(0, owner)]
      if (source === undefined || target === undefined) throw new TypeError('a cluster has several nodes')
      const [from, to] = await Promise.all([source, target].map(
        async ({ redis }) => String(await redis.call('CLUSTER', 'MYID'))
      ))
      await target.redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from ?? '')
      await source.redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to ?? '')
      const moveKeys = async (count: number): Promise<number> => {
        const keys = await source.redis.call('CLUSTER', 'GETKEYSINSLOT', slot, count) as string[]
        if (keys.length > 0) {
          await source.redis.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', ...keys)
        }
        return keys.length
      }
      const half = Math.ceil(Number(await source.redis.call('CLUSTER', 'COUNTKEYSINSLOT', slot)) / 2)
      if (half > 0) await moveKeys(half)
      await pause(halfwayMs)
      while (await moveKeys(100) > 0);
      // The target first: a client that asks the source in between is sent there.
      for (const { redis } of [target, source, ...others]) {
        await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', to ?? '')
      }
    }
  }
}
