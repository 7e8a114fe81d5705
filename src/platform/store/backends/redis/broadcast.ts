// The broadcast of many replicas, over one Redis channel.

import type { Broadcast } from '../../changes/broadcast.ts'
import { createChannelBroadcast, type ChannelBroadcastOptions } from '../../changes/channel-broadcast.ts'
import { createRedisChannel, type RedisChannelClients } from './channel.ts'
import { throwRedisError } from './redis-error.ts'
import { TIME, type CommandRunner } from './scripts.ts'

interface RedisBroadcastClients extends RedisChannelClients {
  readonly commands: RedisChannelClients['commands'] & CommandRunner
}

interface RedisBroadcastOptions extends Pick<ChannelBroadcastOptions, 'onError'> {
  /** The name of the channel. */
  readonly channel: string
}

/** Resolves once texts arrive, and rejects if they do not in time. Closing it does not close the clients. */
export async function openRedisBroadcast (
  clients: RedisBroadcastClients, { channel: name, onError }: RedisBroadcastOptions
): Promise<Broadcast> {
  return await createChannelBroadcast({
    name,
    createChannel: (listener) => createRedisChannel(clients, name, listener),
    time: async () => Number(await clients.commands.call('EVAL', TIME, 1, name).catch(throwRedisError)),
    onError
  })
}
