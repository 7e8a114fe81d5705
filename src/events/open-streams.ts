// The counts of the open streams of this replica, of every kind, against their limits.

import { networkOf, type Sender } from '../access/network.ts'
import { ShareUsed, shareOf } from '../access/share.ts'
import { tooManyStreams, tooManyStreamsOfAddress } from '../protocol/errors.ts'
import type { MessageSink } from './message-sink.ts'
import { createTally } from './tally.ts'

export interface OpenStreams {
  readonly size: number
  /** How many networks have a share that limits their streams, and an open stream. */
  readonly networks: number
  /**
   * Throws a ProtocolError if a new stream of the sender must be refused. Add the stream in the same turn,
   * before anything is awaited.
   */
  checkRoom (sender: Sender): void
  /** Counts the stream until it closes. */
  add (stream: Pick<MessageSink, 'onClose'>, sender: Sender): void
}

export function createOpenStreams (maxStreams: number): OpenStreams {
  const share = shareOf(maxStreams)
  const byNetwork = createTally()
  let size = 0
  return {
    get size () { return size },
    get networks () { return byNetwork.size },
    checkRoom (sender) {
      if (size >= maxStreams) throw tooManyStreams(size)
      const network = networkOf(sender)
      if (network !== undefined && byNetwork.of(network) >= share) {
        throw tooManyStreamsOfAddress(new ShareUsed(network, share))
      }
    },
    add (stream, sender) {
      size++
      const uncount = byNetwork.add(networkOf(sender), 1)
      stream.onClose(() => {
        size--
        uncount()
      })
    }
  }
}
