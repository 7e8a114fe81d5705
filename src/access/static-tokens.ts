// Access tokens in a file, for callers without an authorization server.

import { timingSafeEqual } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { singleFlight } from '../base/single-flight.ts'
import { clock, timers } from '../base/time.ts'
import { AuthenticationError, TokenNotKnown } from './authentication.ts'
import type { Principal } from './principal.ts'
import { loadStaticTokens, STATIC_TOKEN_PREFIX, type StaticTokens } from './static-token-file.ts'
import { hashToken, type TokenVerifier } from './token.ts'

export interface StaticTokensLog {
  info (fields: object, message: string): void
  error (fields: object, message: string): void
}

const POLL_MS = 500

/**
 * Verifies the tokens of a file, one line for each:
 * `- {sha256: …, subject: ada, scopes: [books:read], clientId: ci, expiresAt: 2027-01-01}`.
 * The file is YAML; `clientId` may be absent. A changed file counts within two seconds. While it cannot be
 * read, the tokens before it count, and the log says so. Rejects if the file cannot be read at first.
 */
export async function openStaticTokens (
  file: string, log: StaticTokensLog, { now = clock.now }: { readonly now?: () => number } = {}
): Promise<Required<TokenVerifier>> {
  // Before each read, so that a change during the read is seen by the next check.
  let loadedIdentity = await identify(file)
  let lastIdentity = loadedIdentity
  let tokens = await loadStaticTokens(file)

  const check = singleFlight(async () => {
    const identity = await identify(file)
    // Two checks must agree: a file that is still being written would have a part of its tokens.
    const isSettled = identity === lastIdentity
    lastIdentity = identity
    if (identity === loadedIdentity || !isSettled) return
    loadedIdentity = identity
    try {
      tokens = await loadStaticTokens(file)
      log.info({ file, tokens: tokens.size }, 'static tokens reloaded')
    } catch (err) {
      log.error({ file, err }, 'static tokens not reloaded: the tokens before the change count')
    }
  })

  // A poll needs no report of the kernel, which network file systems do not give.
  let checking: Promise<void> | undefined
  const timer = timers.setInterval(() => { checking = check() }, POLL_MS).unref()
  return {
    maxAgeMs: 0,
    verify: async (token) => findPrincipal(token, tokens, now()),
    async close () {
      timers.clear(timer)
      await checking
    }
  }
}

function findPrincipal (token: string, tokens: StaticTokens, nowMs: number): Principal {
  if (!token.startsWith(STATIC_TOKEN_PREFIX)) {
    throw new TokenNotKnown(`the token does not begin with ${STATIC_TOKEN_PREFIX}`)
  }
  const sha256 = hashToken(token)
  const entry = tokens.get(sha256)
  // The look-up may take a time that depends on the hash, but nobody can choose a token by its hash.
  if (entry === undefined || !timingSafeEqual(Buffer.from(entry.sha256), Buffer.from(sha256))) {
    throw new AuthenticationError('invalid_token', 'the static token is not in the file')
  }
  if (entry.expiresAt > nowMs) return entry.principal
  throw new AuthenticationError('invalid_token', 'the static token has expired')
}

/** Changes with the file and with the links to it, such as the one by which a Secret is mounted. */
async function identify (file: string): Promise<string> {
  const stats = await stat(file, { bigint: true }).catch(() => undefined)
  if (stats === undefined) return 'missing'
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join()
}
