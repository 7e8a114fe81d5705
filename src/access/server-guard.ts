// Bounds the requests to an authorization server that is slow, fails, or has too much to do. A stranger can
// send any number of tokens, and some at which a server fails: no network may lock the others out.

import { LRUCache } from 'lru-cache'
import { OutageSwitch } from '../base/outage-switch.ts'
import { readRetryAfter } from '../base/retry-after.ts'
import { timers } from '../base/time.ts'
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
  /** Whether an error says that the server fails. Others are about one request. */
  readonly isFailure: (error: unknown) => boolean
}

/**
 * Runs a request in its turn. Rejects with an AuthenticationUnavailable where it is not run.
 * @param network the network of who sent the token, or the owner whose token is exchanged. Absent: one
 * network that has no address.
 */
export type ServerGuard = <T>(ask: () => Promise<T>, network?: string) => Promise<T>

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
  readonly network: Network
  readonly start: () => void
  readonly reject: (error: unknown) => void
}

interface Network {
  /** Whether the last token of the network was good. */
  isTrusted: boolean
  /** Off while the server fails at the tokens of the network. */
  readonly outage: OutageSwitch
  /** Until when the server wants no request of the network. */
  pausedUntil: number
}

/** After this many failures in a row the server has failed. A single one may be chance. */
const FAILURES = 3
/** After it has asked this many networks in a row for a pause, all pause. It may limit one user alone. */
const PAUSED_NETWORKS = 2
const MAX_NETWORKS = 10_000
/** One part of the places is kept for networks whose last token was good. */
const TRUSTED_PART = 5

/**
 * A server that fails at the tokens of several networks has failed for all, and otherwise for one network.
 * After the cooldown one request finds out whether the server is back. The others are refused meanwhile.
 */
export function createServerGuard (options: ServerGuardOptions): ServerGuard {
  const { cooldownMs, patienceMs, maxAsking = 50, maxWaiting = 1000, now, isFailure } = options
  const networks = new LRUCache<string, Network>({ max: MAX_NETWORKS })
  const outage = new OutageSwitch({ failures: FAILURES, cooldownMs, now })
  const waiting: WaitingRequest[] = []
  /** Those that the server has asked for a pause since its last answer. */
  const paused = new Set<Network>()
  let asking = 0
  let pausedUntil = -Infinity

  function networkOf (name: string): Network {
    const known = networks.get(name)
    if (known !== undefined) return known
    const ownOutage = new OutageSwitch({ failures: FAILURES, cooldownMs, now })
    const network = { isTrusted: false, outage: ownOutage, pausedUntil: -Infinity }
    networks.set(name, network)
    return network
  }

  const findRefusal = (network: Network): unknown => outage.error ?? network.outage.error

  function partOf (max: number, { isTrusted }: Network): number {
    return isTrusted ? max : max - Math.floor(max / TRUSTED_PART)
  }

  function mayStart (network: Network): boolean {
    return now() >= Math.max(pausedUntil, network.pausedUntil) && asking < partOf(maxAsking, network)
  }

  /** The requests of trusted networks come first. */
  function takeNext (): WaitingRequest | undefined {
    const trusted = waiting.findIndex(({ network }) => network.isTrusted && mayStart(network))
    const index = trusted === -1 ? waiting.findIndex(({ network }) => mayStart(network)) : trusted
    return index === -1 ? undefined : waiting.splice(index, 1)[0]
  }

  /** Waiting requests are refused together once the server has failed. */
  function serveWaiting (): void {
    while (now() - (waiting[0]?.since ?? Infinity) > patienceMs) waiting.shift()?.reject(tooMany())
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      const refusal = findRefusal(next.network)
      if (refusal === undefined) next.start()
      else next.reject(refusal)
    }
  }

  function slowDown (network: Network, retryAfterMs: number): void {
    const until = now() + Math.min(retryAfterMs, patienceMs)
    paused.add(network)
    network.pausedUntil = Math.max(network.pausedUntil, until)
    if (paused.size >= PAUSED_NETWORKS) pausedUntil = Math.max(pausedUntil, until)
    resumeAt(until)
  }

  function resumeAt (time: number): void {
    const ms = time - now()
    if (ms > 0) timers.setTimeout(() => resumeAt(time), ms).unref()
    else serveWaiting()
  }

  /** One that waits again keeps its place. */
  function wait (request: WaitingRequest): void {
    const index = waiting.findIndex(({ since }) => since > request.since)
    if (index === -1) waiting.push(request)
    else waiting.splice(index, 0, request)
  }

  function learn (network: Network, error?: unknown): void {
    network.isTrusted = error === undefined
    if (error !== undefined && isFailure(error)) {
      // A network that fails alone may send tokens at which the server fails.
      outage.add(error, network)
      network.outage.add(error)
    } else {
      outage.reset()
      network.outage.reset()
      paused.clear()
    }
  }

  async function run<T> (ask: () => Promise<T>, network: Network): Promise<T> {
    asking++
    const ends = [outage.begin(), network.outage.begin()]
    try {
      const answer = await ask()
      learn(network)
      return answer
    } catch (error) {
      if (error instanceof ServerBusy) slowDown(network, error.retryAfterMs)
      else learn(network, error)
      throw error
    } finally {
      asking--
      for (const end of ends) end()
      serveWaiting()
    }
  }

  return async (ask, name = '') => {
    const network = networkOf(name)
    const since = now()
    const refusal = findRefusal(network)
    if (refusal !== undefined) throw refusal
    for (;;) {
      try {
        if (mayStart(network)) return await run(ask, network)
        if (waiting.length >= partOf(maxWaiting, network)) throw tooMany()
        return await new Promise((resolve, reject) => {
          const start = () => { run(ask, network).then(resolve, reject) }
          wait({ since, network, start, reject })
        })
      } catch (error) {
        if (!(error instanceof ServerBusy) || now() - since + error.retryAfterMs > patienceMs) throw error
      }
    }
  }
}

function tooMany (): AuthenticationUnavailable {
  return new AuthenticationUnavailable('too many tokens wait for an answer of the authorization server')
}
