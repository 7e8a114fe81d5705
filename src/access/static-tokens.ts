// Access tokens in a file, for callers without an authorization server.

import { timingSafeEqual } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { clock, timers } from '../base/time.ts'
import { AuthenticationError, TokenNotKnown } from './authentication-error.ts'
import { loadKnownTokens, type KnownTokens } from './known-tokens.ts'
import { STATIC_TOKEN_PREFIX } from './new-static-token.ts'
import type { Principal } from './principal.ts'
import { hashToken } from './token-hash.ts'
import type { TokenVerifier } from './token-verifier.ts'

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
  let seen = await identify(file)
  let looked = seen
  let tokens = await loadKnownTokens(file)
  let checking: Promise<void> | undefined

  async function check (): Promise<void> {
    const identity = await identify(file)
    // Two looks must agree: a file that is still being written would have a part of its tokens.
    const isSettled = identity === looked
    looked = identity
    if (identity === seen || !isSettled) return
    seen = identity
    try {
      tokens = await loadKnownTokens(file)
      log.info({ file, tokens: tokens.size }, 'static tokens reloaded')
    } catch (err) {
      log.error({ file, err }, 'static tokens not reloaded: the tokens before the change count')
    }
  }

  // Looking needs no report of the kernel, which network file systems do not give.
  const timer = timers.setInterval(() => {
    checking ??= check().finally(() => { checking = undefined })
  }, POLL_MS).unref()
  return {
    maxAgeMs: 0,
    verify: async (token) => find(token, tokens, now()),
    async close () {
      timers.clear(timer)
      await checking
    }
  }
}

function find (token: string, tokens: KnownTokens, nowMs: number): Principal {
  if (!token.startsWith(STATIC_TOKEN_PREFIX)) {
    throw new TokenNotKnown(`the token does not begin with ${STATIC_TOKEN_PREFIX}`)
  }
  const sha256 = hashToken(token)
  const found = tokens.get(sha256)
  // The look-up may take a time that depends on the hash, but nobody can choose a token by its hash.
  if (found === undefined || !timingSafeEqual(Buffer.from(found.sha256), Buffer.from(sha256))) {
    throw new AuthenticationError('invalid_token', 'the static token is not in the file')
  }
  if (found.expiresAt > nowMs) return found.principal
  throw new AuthenticationError('invalid_token', 'the static token has expired')
}

/** Changes with the file and with the links to it, such as the one by which a Secret is mounted. */
async function identify (file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  if (found === undefined) return 'missing'
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join()
}
