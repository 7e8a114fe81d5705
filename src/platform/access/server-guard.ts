// Bounds the requests to an authorization server that is slow, fails, or has too much to do. A stranger can
// send any number of tokens, and some at which a server fails or is slow: no network may lock the others out.

import { LRUCache } from 'lru-cache'
import { BoundedQueue } from '../../base/bounded-queue.ts'
import { CircuitBreaker, type Failure } from '../../base/circuit-breaker.ts'
import { readRetryAfter } from '../../base/retry.ts'
import { timers } from '../../base/time.ts'
import { AuthenticationUnavailable } from './authentication.ts'

export interface ServerGuardOptions {
  /** How long a server that failed is not asked again, in milliseconds. */
  readonly cooldownMs: number
  /** How long a request may wait for its turn, in milliseconds. */
  readonly patienceMs: number
  /** How many requests the server gets at once. 50 by default. */
  readonly maxAsking?: number
  /** How many requests may wait for their turn. 1000 by default. */
  readonly maxWaiting?: number
  readonly now: () => number
  /** Whose requests the guard tells apart. Networks are easy to have many of. `network` by default. */
  readonly holders?: 'network' | 'principal'
  /** Whether an error says that the server fails. Others are about one request. */
  readonly isFailure: (error: unknown) => boolean
}

/**
 * Runs a request in its turn. Rejects with an AuthenticationUnavailable where it is not run.
 * @param holder the network of who sent the token, or the subject whose token is exchanged. Absent: this
 * machine, whose network has no address.
 */
export type ServerGuard = <T>(ask: () => Promise<T>, holder?: string) => Promise<T>

/** The server wants to be asked less. The guard asks it again later about the same token. */
export class ServerBusy extends AuthenticationUnavailable {
  readonly retryAfterMs: number

  constructor (message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** How long a server is not asked that has too much to do and does not say how long. */
const RETRY_AFTER_MS = 1000

/** Reads how long the server wants not to be asked, in milliseconds. */
export function readRetryAfterMs ({ headers }: Response): number {
  const afterMs = readRetryAfter(headers.get('retry-after') ?? undefined) ?? 0
  return afterMs === 0 ? RETRY_AFTER_MS : afterMs
}

interface WaitingRequest {
  readonly since: number
  readonly holder: HolderState
  readonly start: () => void
  readonly reject: (error: unknown) => void
}

interface HolderState {
  readonly name: string
  /** Whether its last token was good. */
  isTrusted: boolean
  /** Whether one of its tokens was good. */
  isKnown: boolean
  /** How many of its requests run. */
  asking: number
  /** Until when the server wants none of its requests. */
  pausedUntil: number
}

/** After this many failures in a row the server has failed. A single one may be chance. */
const FAILURES = 3
/** The one witness of the failures of all networks that never had a good token. */
const STRANGERS = 'strangers'
/** After it has asked this many holders in a row for a pause, all pause. It may limit one user alone. */
const PAUSED_HOLDERS = 2
const MAX_HOLDERS = 10_000
/** One part of the places is kept for holders whose last token was good. */
const TRUSTED_PART = 5
/** The divisors of the share of the places that one holder may have: a half while its last token was good. */
const SHARE_DIVISORS = { trusted: 2, other: 10 }

/**
 * A server that fails at the tokens of several holders has failed for all, and otherwise for each alone. All
 * networks that never had a good token count as one: a stranger has many addresses. After the cooldown each
 * holder may find out whether the server is back. One answer is enough for all.
 */
export function createServerGuard (options: ServerGuardOptions): ServerGuard {
  const { maxAsking = 50, maxWaiting = 1000, holders = 'network', cooldownMs, patienceMs, now } = options
  const states = new LRUCache<string, HolderState>({ max: MAX_HOLDERS })
  const breaker = new CircuitBreaker({ failures: FAILURES, cooldownMs, now, maxHolders: MAX_HOLDERS })
  const waiting = new BoundedQueue<WaitingRequest>({
    maxSize: maxWaiting, maxWaitMs: patienceMs, onLate: ({ reject }) => reject(tooMany()), now
  })
  /** Holders that got 429 since the last answer. More than two are not needed. */
  const paused = new Set<HolderState>()
  let asking = 0
  let pausedUntil = -Infinity

  function stateOf (name: string): HolderState {
    const current = states.get(name)
    if (current !== undefined) return current
    const isKnown = holders === 'principal'
    const holder = { name, isTrusted: false, isKnown, asking: 0, pausedUntil: -Infinity }
    states.set(name, holder)
    return holder
  }

  const findRefusal = ({ name }: HolderState): unknown => breaker.findRefusal(name)

  function partOf (max: number, { isTrusted }: HolderState): number {
    return isTrusted ? max : max - Math.floor(max / TRUSTED_PART)
  }

  function mayStart (holder: HolderState): boolean {
    return now() >= Math.max(pausedUntil, holder.pausedUntil) &&
      asking < partOf(maxAsking, holder) && holder.asking < shareOf(maxAsking, holder)
  }

  function takeNext (): WaitingRequest | undefined {
    let next: WaitingRequest | undefined
    for (const [request] of waiting) {
      if ((next === undefined || isBefore(request, next)) && mayStart(request.holder)) next = request
    }
    if (next !== undefined) waiting.delete(next)
    return next
  }

  /** Waiting requests are refused together once the server has failed. */
  function serveWaiting (): void {
    waiting.dropLate()
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      const refusal = findRefusal(next.holder)
      if (refusal === undefined) next.start()
      else next.reject(refusal)
    }
  }

  function slowDown (holder: HolderState, retryAfterMs: number): void {
    const until = now() + Math.min(retryAfterMs, patienceMs)
    if (paused.size < PAUSED_HOLDERS) paused.add(holder)
    holder.pausedUntil = Math.max(holder.pausedUntil, until)
    if (paused.size >= PAUSED_HOLDERS) pausedUntil = Math.max(pausedUntil, until)
    resumeAt(until)
  }

  function resumeAt (time: number): void {
    const ms = time - now()
    if (ms > 0) timers.setTimeout(() => resumeAt(time), ms).unref()
    else serveWaiting()
  }

  function learn (holder: HolderState, error?: unknown): void {
    holder.isTrusted = error === undefined
    holder.isKnown ||= holder.isTrusted
    if (error !== undefined && options.isFailure(error)) {
      breaker.fail(holder.name, toFailure(error, holder))
    } else {
      breaker.succeed(holder.name)
      paused.clear()
    }
  }

  async function run<T> (ask: () => Promise<T>, holder: HolderState): Promise<T> {
    asking++
    holder.asking++
    const end = breaker.begin(holder.name)
    try {
      const answer = await ask()
      learn(holder)
      return answer
    } catch (error) {
      if (error instanceof ServerBusy) slowDown(holder, error.retryAfterMs)
      else learn(holder, error)
      throw error
    } finally {
      asking--
      holder.asking--
      end()
      serveWaiting()
    }
  }

  return async (ask, name = '') => {
    const holder = stateOf(name)
    const since = now()
    for (;;) {
      const refusal = findRefusal(holder)
      if (refusal !== undefined) throw refusal
      try {
        if (mayStart(holder)) return await run(ask, holder)
        if (waiting.size >= partOf(maxWaiting, holder)) throw tooMany()
        return await new Promise((resolve, reject) => {
          const start = () => { run(ask, holder).then(resolve, reject) }
          waiting.add({ since, holder, start, reject }, since)
        })
      } catch (error) {
        if (!(error instanceof ServerBusy) || now() - since + error.retryAfterMs > patienceMs) throw error
      }
    }
  }
}

/** The requests of trusted holders come first, then older ones: a request that waits again keeps its age. */
function isBefore ({ holder, since }: WaitingRequest, next: WaitingRequest): boolean {
  return holder.isTrusted === next.holder.isTrusted ? since < next.since : holder.isTrusted
}

/** Returns how many requests of a holder may run. A network without an address is this machine. */
function shareOf (max: number, { name, isTrusted }: HolderState): number {
  if (name === '') return max
  return Math.ceil(max / (isTrusted ? SHARE_DIVISORS.trusted : SHARE_DIVISORS.other))
}

/** One holder may send tokens at which the server fails. */
function toFailure (error: unknown, { name, isKnown }: HolderState): Failure {
  return { error, witness: isKnown ? name : STRANGERS, most: 1, isOwn: true }
}

function tooMany (): AuthenticationUnavailable {
  return new AuthenticationUnavailable('too many tokens wait for an answer of the authorization server')
}
