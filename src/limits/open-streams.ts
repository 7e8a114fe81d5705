// The counts of the open streams of this replica, of every kind, against their limits.

import { createTally } from '../base/tally.ts'
import { tooManyStreams, tooManyStreamsOfAddress, tooManyStreamsOfCaller } from '../protocol/errors.ts'
import type { Sender } from './network.ts'
import { shareholderOf, ShareUsed, shareOf } from './share.ts'

export interface OpenStreams {
  readonly size: number
  /** How many networks and principals have an open stream that counts in their share. */
  readonly shareholders: number
  /**
   * Throws a ProtocolError if a new stream of the sender must be refused. Add the stream in the same turn,
   * before anything is awaited.
   */
  checkRoom (sender: Sender): void
  /** Counts the stream until it closes. */
  add (stream: { onClose (listener: () => void): void }, sender: Sender): void
}

/**
 * @param limitOfCaller how many streams one caller may have: a principal, or the network of an anonymous one,
 * which has its share at most. By default each has its share.
 */
export function createOpenStreams (
  maxStreams: number, limitOfCaller = shareOf(maxStreams, 'principal')
): OpenStreams {
  const shareOfNetwork = Math.min(limitOfCaller, shareOf(maxStreams))
  const byShareholder = createTally()
  let size = 0
  return {
    get size () { return size },
    get shareholders () { return byShareholder.size },
    checkRoom (sender) {
      if (size >= maxStreams) throw tooManyStreams(size)
      const shareholder = shareholderOf(sender)
      if (shareholder === undefined) return
      const { kind, name } = shareholder
      const open = byShareholder.of(name)
      if (kind === 'principal') {
        if (open >= limitOfCaller) throw tooManyStreamsOfCaller(limitOfCaller)
      } else if (open >= shareOfNetwork) {
        throw tooManyStreamsOfAddress(new ShareUsed(name, shareOfNetwork))
      }
    },
    add (stream, sender) {
      size++
      const uncount = byShareholder.add(shareholderOf(sender)?.name, 1)
      stream.onClose(() => {
        size--
        uncount()
      })
    }
  }
}
