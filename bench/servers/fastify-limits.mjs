// The limits of the checked Fastify, for each network: the calls that run, and those that begin in a minute.

import { isIPv6 } from 'node:net'
import { Refusal } from './fastify-checks.mjs'

const MOST_RUNNING = 100
/** Out of reach: all load of the benchmark is of one network. */
const MOST_IN_WINDOW = 100_000_000
const WINDOW_MS = 60_000
const TOO_MANY = -32000

const running = new Map()
const windows = new Map()

setInterval(() => {
  const now = performance.now()
  for (const [network, { endsAt }] of windows) if (endsAt < now) windows.delete(network)
}, WINDOW_MS).unref()

/** An IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf (address) {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  return isIPv6(plain) ? plain.split(':', 4).join(':') : plain
}

export function countCall (network) {
  const now = performance.now()
  let window = windows.get(network)
  if (window === undefined || window.endsAt <= now) {
    window = { endsAt: now + WINDOW_MS, calls: 0 }
    windows.set(network, window)
  }
  if (++window.calls > MOST_IN_WINDOW) throw new Refusal(429, TOO_MANY, 'Too many calls in this minute')
}

/** @returns {() => void} to be called when the call has been answered */
export function startCall (network) {
  const count = running.get(network) ?? 0
  if (count >= MOST_RUNNING) throw new Refusal(429, TOO_MANY, 'Too many calls run')
  running.set(network, count + 1)
  return () => {
    const number = running.get(network) - 1
    if (number === 0) running.delete(network)
    else running.set(network, number)
  }
}
