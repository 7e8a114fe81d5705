// What the log gets of an error of undici, of a socket or of a decoder.

import { clip, codeOf, messageOf } from '../../base/words.ts'

/**
 * Has only the name, the code and the message. Other members may quote the answer, or have the addresses of
 * the socket: undici's errors do.
 */
export class TransportError extends Error {
  readonly code: string | undefined

  constructor (name: string, code: string | undefined, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = name
    this.code = code
  }
}

const MAX_CAUSES = 5
const MAX_LENGTH = 500

/** Copies what the log may have of an error, and of its causes. */
export function toTransportError (error: unknown, depth = 0): TransportError {
  const name = error instanceof Error ? error.name : 'Error'
  const code = codeOf(error)
  const cause = error instanceof Error && depth < MAX_CAUSES ? error.cause : undefined
  return new TransportError(
    clip(String(name)),
    typeof code === 'string' ? code : undefined,
    toMessage(error),
    cause === undefined ? undefined : { cause: toTransportError(cause, depth + 1) }
  )
}

/** A failure at several addresses of one host says in `errors` what happened at each. */
function toMessage (error: unknown): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors.slice(0, MAX_CAUSES) : []
  const messages = [messageOf(error), ...errors.map(messageOf)].filter((message) => message !== '')
  return clip(messages.join('; '), MAX_LENGTH)
}
