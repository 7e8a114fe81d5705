// The composition root of what is kept: the backend of the settings, and the secrets that seal what clients
// keep.

import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../base/time.ts'
import { messageOf } from '../base/words.ts'
import { ConfigError, type AppConfig } from '../ops/config/config.ts'
import type { OpenedBackend } from '../store/backends/backend.ts'
import { openBackend } from '../store/backends/url-schemes.ts'
import { createSealer, type Sealer } from '../store/sealing/sealer.ts'

/** Opens the backend of `stateUrl`. Rejects with a ConfigError. */
export async function openConfiguredBackend (
  { stateUrl, statePrefix }: AppConfig, log: FastifyBaseLogger, clock: Clock
): Promise<OpenedBackend> {
  try {
    return await openBackend(stateUrl, { log, prefix: statePrefix, clock })
  } catch (error) {
    throw new ConfigError([messageOf(error)], { cause: error })
  }
}

/** Rejects with a ConfigError, and closes the backend, if the secret that it keeps cannot be read. */
export async function openSealer (
  config: AppConfig, backend: OpenedBackend, log: FastifyBaseLogger, clock: Clock
): Promise<Sealer> {
  return createSealer(await readSecrets(config, backend, log), {
    ...clock,
    onEphemeral: () => log.warn(
      'TRIVET_SECRETS is not set: sessions, questions to clients, tasks, and links to files are lost when ' +
        'this process ends'
    )
  })
}

/** Returns `undefined` if no secret outlives the process. */
async function readSecrets (
  { secrets }: AppConfig, backend: OpenedBackend, log: FastifyBaseLogger
): Promise<readonly string[] | undefined> {
  if (secrets.length > 0) return secrets
  try {
    const kept = backend.readKeptSecret?.()
    if (kept === undefined) return undefined
    log.info({ file: kept.file }, 'TRIVET_SECRETS is not set: the secret in this file is used')
    return [kept.secret]
  } catch (error) {
    await backend.close()
    throw new ConfigError([messageOf(error)], { cause: error })
  }
}
