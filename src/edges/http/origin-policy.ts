// The allowed host names and web origins: the protection against DNS rebinding.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint

import type { Server } from 'node:http'
import { isLocal } from '../../base/addresses.ts'

interface OriginPolicyOptions {
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

export interface OriginPolicy {
  isAllowedHost (host: string | undefined): boolean
  /** An absent origin is allowed: the client is not a web page. */
  isAllowedOrigin (origin: string | undefined): boolean
}

/** The names of this machine that a browser uses, each with or without a port. */
export const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i
const SCHEME = /^https?:\/\//i

/**
 * The names of this machine are allowed beside the configured names, until the server listens on an address
 * that other machines can reach.
 */
export function createOriginPolicy (
  server: Server, { allowedHosts, allowedOrigins }: OriginPolicyOptions
): OriginPolicy {
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  let isExposed = false
  /** Most requests of a service name the same host. To look it up again takes 0.5 µs, 1 % of a prompt. */
  let lastAllowed: string | undefined
  // Emitted before the first connection.
  server.once('listening', () => {
    isExposed = !isLocal(server.address())
    lastAllowed = undefined
  })

  function isAllowed (host: string): boolean {
    const name = host.toLowerCase()
    const withoutPort = name.replace(/:\d+$/, '')
    return hosts.has(name) || hosts.has(withoutPort) || (!isExposed && LOOPBACK_HOST.test(name))
  }

  return {
    isAllowedHost (host) {
      // If no hosts are configured, a service that other machines can reach answers to any name.
      if (isExposed && hosts.size === 0) return true
      if (host === undefined) return false
      if (host === lastAllowed) return true
      if (!isAllowed(host)) return false
      lastAllowed = host
      return true
    },
    isAllowedOrigin (origin) {
      if (origin === undefined || origins.has('*') || origins.has(origin.toLowerCase())) return true
      return !isExposed && SCHEME.test(origin) && LOOPBACK_HOST.test(origin.replace(SCHEME, ''))
    }
  }
}
