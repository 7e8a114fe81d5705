// Access tokens in a file, for callers without an authorization server.

import { timingSafeEqual } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { singleFlight } from '../../base/single-flight.ts'
import { clock, timers } from '../../base/time.ts'
import { toError } from '../../base/words.ts'
import { AuthenticationError, AuthenticationUnavailable, TokenNotKnown } from './authentication.ts'
import type { Principal } from './principal.ts'
import { loadStaticTokens, STATIC_TOKEN_PREFIX, type StaticTokens } from './static-token-file.ts'
import { hashToken, type TokenVerifier } from './token.ts'

export interface StaticTokensLog {
  info (fields: object, message: string): void
  error (fields: object, message: string): void
}

interface StaticTokensOptions {
  readonly now?: () => number
  /** How often the file is looked at, in milliseconds. 500 by default. */
  readonly pollMs?: number
}

/** The state of the file, for operators. */
export interface StaticTokensState {
  /** How many tokens count. `undefined` while the file cannot be read, so that nobody knows. */
  readonly tokens: number | undefined
  readonly problem?: string
}

export interface StaticTokensVerifier extends Required<TokenVerifier> {
  readonly state: StaticTokensState
}

const POLL_MS = 500
/** A file that changes at each look, or cannot be read, is not waited for any longer. */
const MAX_LOOKS = 3

/**
 * Verifies the tokens of a file, one line for each:
 * `- {sha256: …, subject: ada, scopes: [books:read], clientId: ci, expiresAt: 2027-01-01}`.
 * The file is YAML; `clientId` may be absent. A changed file counts within two seconds. A line with a mistake
 * keeps the token that it had. While the file cannot be read, its tokens are unavailable. The log says both.
 * Rejects if the file cannot be read at first, or has a mistake.
 */
export async function openStaticTokens (
  file: string, log: StaticTokensLog, { now = clock.now, pollMs = POLL_MS }: StaticTokensOptions = {}
): Promise<StaticTokensVerifier> {
  // Before each read, so that a change during the read is seen by the next check.
  const firstIdentity = await identify(file)
  let lastIdentity = firstIdentity
  const first = await loadStaticTokens(file, new Map())
  if (first.problem !== undefined) throw first.problem
  let tokens: StaticTokens | undefined = first.tokens
  let lastTokens = first.tokens
  /** The state of the file whose tokens count. Absent while they are those of two reads. */
  let loadedIdentity: string | undefined = firstIdentity
  /** The last read. Absent after one that failed: tokens of an earlier one may have been taken back since. */
  let lastRead: StaticTokens | undefined = first.tokens
  let looks = 0
  let problem: string | undefined

  function report (error: Error | undefined, message: string): void {
    if (error !== undefined && error.message !== problem) log.error({ file, err: error }, message)
    problem = error?.message
  }

  async function load (identity: string, isSettled: boolean): Promise<void> {
    try {
      const loaded = await loadStaticTokens(file, lastTokens)
      const readBefore = lastRead
      lastRead = loaded.tokens
      if (isSettled) {
        tokens = loaded.tokens
        loadedIdentity = identity
        looks = 0
      } else {
        if (looks < MAX_LOOKS || readBefore === undefined) return
        // One read may have seen a part of the file. The union counts only until the file rests.
        tokens = new Map([...readBefore, ...loaded.tokens])
        loadedIdentity = undefined
      }
      lastTokens = tokens
      report(loaded.problem, 'static tokens reloaded: lines with a mistake keep the tokens that they had')
      if (loaded.problem === undefined) log.info({ file, tokens: tokens.size }, 'static tokens reloaded')
    } catch (error) {
      lastRead = undefined
      if (looks < MAX_LOOKS) return
      tokens = undefined
      report(toError(error), 'static tokens are unavailable: their file cannot be read')
    }
  }

  const check = singleFlight(async () => {
    const identity = await identify(file)
    // Two checks must agree: a file that is still being written would have a part of its tokens.
    const isSettled = identity === lastIdentity
    lastIdentity = identity
    if (identity === loadedIdentity && tokens !== undefined) looks = 0
    else if (++looks >= MAX_LOOKS - 1 || isSettled) await load(identity, isSettled)
  })

  // A poll needs no report of the kernel, which network file systems do not give.
  let checking: Promise<void> | undefined
  const timer = timers.setInterval(() => { checking = check() }, pollMs).unref()
  return {
    maxAgeMs: 0,
    verify: async (token) => findPrincipal(token, tokens, now()),
    get state () { return { tokens: tokens?.size, ...(problem !== undefined && { problem }) } },
    async close () {
      timers.clear(timer)
      await checking
    }
  }
}

function findPrincipal (token: string, tokens: StaticTokens | undefined, nowMs: number): Principal {
  if (!token.startsWith(STATIC_TOKEN_PREFIX)) {
    throw new TokenNotKnown(`the token does not begin with ${STATIC_TOKEN_PREFIX}`)
  }
  if (tokens === undefined) throw new AuthenticationUnavailable('the file of static tokens cannot be read')
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
