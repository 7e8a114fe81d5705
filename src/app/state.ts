// Opens the state: the backend of the settings, and the sealer with the secrets.

import type { FastifyBaseLogger } from 'fastify'
import { StartError } from '../base/lifecycle.ts'
import type { Clock } from '../base/time.ts'
import { messageOf } from '../base/words.ts'
import { ConfigError, type ServiceConfig } from '../ops/config/config.ts'
import type { OpenedBackend } from '../store/backends/backend.ts'
import { openBackend } from '../store/backends/url-schemes.ts'
import { StoreUnavailable } from '../store/records/state-store.ts'
import { createSealer, type Sealer } from '../store/sealing/sealer.ts'

interface StateDependencies {
  readonly log: FastifyBaseLogger
  readonly clock: Clock
}

/**
 * Opens the backend of `stateUrl`. Rejects with a ConfigError.
 * @param signal ends the opening when it aborts.
 */
export async function openStateBackend (
  { stateUrl, statePrefix }: ServiceConfig, { log, clock }: StateDependencies, signal: AbortSignal
): Promise<OpenedBackend> {
  try {
    return await openBackend(stateUrl, { log, prefix: statePrefix, clock, signal })
  } catch (error) {
    throw new ConfigError([messageOf(error)], { cause: error })
  }
}

/** Throws a ConfigError if the secret that the backend keeps cannot be read. */
export function openSealer (
  { secrets }: ServiceConfig, backend: OpenedBackend, { log, clock }: StateDependencies
): Sealer {
  return createSealer(secrets.length > 0 ? secrets : readKeptSecrets(backend, log), {
    ...clock,
    onEphemeral: () => log.warn(
      'TRIVET_SECRETS is not set: sessions, questions to clients, tasks, and links to files are lost when ' +
        'this process ends'
    )
  })
}

/** Returns `undefined` if no secret outlives the process. */
function readKeptSecrets (backend: OpenedBackend, log: FastifyBaseLogger): readonly string[] | undefined {
  try {
    const keptSecret = backend.readKeptSecret?.()
    if (keptSecret === undefined) return undefined
    log.info({ file: keptSecret.file }, 'TRIVET_SECRETS is not set: the secret in this file is used')
    return [keptSecret.secret]
  } catch (error) {
    throw new ConfigError([messageOf(error)], { cause: error })
  }
}

/** Says why the state ends the start: it opened, but answers too slowly or not at all. */
export function failStart (cause: unknown): never {
  // A mistake of our own keeps its stack.
  if (cause instanceof TypeError || cause instanceof RangeError) throw cause
  const reason = messageOf(cause instanceof StoreUnavailable ? cause.cause ?? cause : cause)
  const problem = `The state of TRIVET_STATE_URL failed during the start: ${reason}`
  throw new StartError(problem, { cause })
}
