import type { OpenStreams } from '../limits/open-streams.ts'
import type { WaitingBytes } from '../limits/waiting-bytes.ts'
import type { KeepAlive } from './keep-alive.ts'

/** What the answers of both eras share. */
export interface AnswerDependencies {
  readonly waitingBytes: WaitingBytes
  readonly openStreams: OpenStreams
  readonly keepAlive: KeepAlive
}
