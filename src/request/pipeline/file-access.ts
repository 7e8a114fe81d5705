// The seam for large files: the interface that handlers use. files/ implements it.

import type { Principal } from '../../access/principal.ts'
import type { Files } from '../../author/files.ts'
import type { Sender } from '../../limits/network.ts'
import type { InputRound } from '../questions/input-round.ts'

/** The request of the handler. */
export interface FileClient {
  readonly sender: Sender
  readonly round: Pick<InputRound, 'ask' | 'once'>
  readonly signal: AbortSignal
  /** Stops the time limit until the returned function is called. */
  pauseClock (): () => void
}

export interface FileAccess {
  /** The files of one request. */
  open (client: FileClient): Files
  /**
   * The URL of a file of the catalog that is too large to be part of a result. `undefined` for a smaller
   * file, and if the service does not know its public URL.
   */
  linkTo (uri: string, size: number, principal: Principal): string | undefined
}
