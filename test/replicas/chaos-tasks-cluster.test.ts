// The slots of a Redis cluster move from node to node, one after the other, while three replicas serve tasks,
// handles and repeated calls. What was acknowledged is there, once. CHAOS_SECONDS is the duration: then
// replicas are killed as well. `npm run chaos:tasks` prints the figures of a minute.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer, startRedisCluster } from '../servers/redis-server.ts'
import { openSlots, type Slots } from '../servers/redis-slots.ts'
import { checkReplicas } from './chaos-tasks-replicas.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 2)
/** How long the keys of a slot are on two nodes. */
const HALFWAY_MS = 100
const MIN_MOVES = 4
const CHANNEL = 'trivet:broadcast'

if (hasRedisServer(t) && hasNginx(t)) {
  t.setTimeout(SECONDS * 1000 + 180_000)
  t.test('nothing acknowledged is lost or doubled while slots of a cluster move', {
    timeout: SECONDS * 1000 + 150_000
  }, async (t) => {
    const { url, nodes } = await startRedisCluster(t)
    const slots = openSlots(t, nodes, HALFWAY_MS)
    await checkReplicas(t, {
      stateUrl: url,
      seconds: SECONDS,
      makeFaults: async (end) => `${await moveSlots(slots, end)} slots moved`
    })
  })
}

/** Moves the slot of the channel, and then those of keys, until the time is over and some have moved. */
async function moveSlots ({ keys, move }: Slots, end: number): Promise<number> {
  let moves = 0
  const isOver = () => performance.now() > end && moves >= MIN_MOVES
  for (let channel: readonly string[] = [CHANNEL]; !isOver(); channel = []) {
    // One key of each slot: an owner has many.
    const ofSlots = new Map((await keys()).map((key) => [/\{(.*?)\}/.exec(key)?.[1], key]))
    for (const key of [...channel, ...ofSlots.values()]) {
      if (isOver()) break
      await move(key)
      moves++
      await pause(HALFWAY_MS)
    }
  }
  return moves
}
