// Clients of Redis whose commands have a deadline. The driver has one too, but its timer runs before the
// sockets are read: after a pause of the event loop it would refuse commands whose answers have arrived.

import { Cluster, Redis, type Command } from 'ioredis'
import { timers } from '../../../base/time.ts'

/** A command without an answer rejects after this time. */
export const COMMAND_TIMEOUT_MS = 1500

export class DeadlineRedis extends Redis {
  override sendCommand (...parts: Parameters<Redis['sendCommand']>): unknown {
    setDeadline(parts[0])
    return super.sendCommand(...parts)
  }
}

export class DeadlineCluster extends Cluster {
  override sendCommand (...parts: Parameters<Cluster['sendCommand']>): unknown {
    setDeadline(parts[0])
    return super.sendCommand(...parts)
  }
}

function setDeadline (command: Command): void {
  const timer = timers.setTimeout(() => {
    // Sockets are read before this runs.
    setImmediate(() => {
      if (!command.isSettled) command.reject(new Error('Command timed out'))
    })
  }, COMMAND_TIMEOUT_MS)
  const clear = () => { timers.clear(timer) }
  command.promise.then(clear, clear)
}
