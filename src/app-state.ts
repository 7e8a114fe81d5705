// The composition root of what is kept: the backend of the settings, and the secrets that seal what clients
// keep.

import type { FastifyBaseLogger } from 'fastify'
import type { OpenedBackend } from './backends/backend.ts'
import { openBackend } from './backends/url-schemes.ts'
import { ConfigError, type AppConfig } from './config.ts'

/** Opens the backend of `stateUrl`. Rejects with a ConfigError. */
export async function openConfiguredBackend (
  { stateUrl, statePrefix }: AppConfig, log: FastifyBaseLogger
): Promise<OpenedBackend> {
  try {
    return await openBackend(stateUrl, { log, prefix: statePrefix })
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)], { cause: error })
  }
}

/** Returns `undefined` if no secret outlives the process. */
export async function readSecrets (
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
    throw new ConfigError([error instanceof Error ? error.message : String(error)], { cause: error })
  }
}
