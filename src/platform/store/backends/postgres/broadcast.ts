// The broadcast of many replicas, over one channel of PostgreSQL.

import type { Broadcast } from '../../changes/broadcast.ts'
import { createChannelBroadcast, type ChannelBroadcastOptions } from '../../changes/channel-broadcast.ts'
import { createPostgresChannel, type PostgresChannelDependencies } from './channel.ts'
import { throwPostgresError } from './postgres-error.ts'
import { NOW_MS, readNumber, toStatement } from './statement.ts'

interface PostgresBroadcastDependencies
  extends PostgresChannelDependencies, Pick<ChannelBroadcastOptions, 'onError'> {}

const TIME = toStatement(`SELECT ${NOW_MS}`)

/** Resolves once texts arrive. Closing it does not close the connections of the runner. */
export async function openPostgresBroadcast (
  { onError, ...dependencies }: PostgresBroadcastDependencies
): Promise<Broadcast> {
  return await createChannelBroadcast({
    name: `${dependencies.names.schema}.messages`,
    createChannel: (listener) => createPostgresChannel(dependencies, listener),
    async time () {
      const [[time] = []] = await dependencies.runner.run(TIME).catch(throwPostgresError)
      return readNumber(time)
    },
    onError
  })
}
