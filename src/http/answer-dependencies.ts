import type { OpenStreams } from '../events/open-streams.ts'
import type { KeepAlive } from './keep-alive.ts'
import type { WaitingBytes } from './waiting-bytes.ts'

/** What the answers of both eras share. */
export interface AnswerDependencies {
  readonly waitingBytes: WaitingBytes
  readonly openStreams: OpenStreams
  readonly keepAlive: KeepAlive
}
