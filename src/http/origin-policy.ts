// Whose web pages, and under which host names, the service answers: the guard against DNS rebinding.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint

export interface OriginPolicyOptions {
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** Whether only this machine can reach the service: then only its own names are right. */
  readonly isLoopback: boolean
}

export interface OriginPolicy {
  allowsHost (host: string | undefined): boolean
  /** An absent origin is no web page, and is allowed. */
  allowsOrigin (origin: string | undefined): boolean
  /** Whether any web page may call at all. */
  readonly allowsSomeOrigin: boolean
}

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]']
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

export function createOriginPolicy ({ allowedHosts, allowedOrigins, isLoopback }: OriginPolicyOptions): OriginPolicy {
  const ownHosts = isLoopback ? LOOPBACK_HOSTS : []
  const hosts = new Set([...allowedHosts, ...ownHosts].map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))

  return {
    allowsHost (host) {
      if (hosts.size === 0) return true
      if (host === undefined) return false
      const name = host.toLowerCase()
      return hosts.has(name) || hosts.has(name.replace(/:\d+$/, ''))
    },
    allowsOrigin (origin) {
      if (origin === undefined || origins.has('*') || origins.has(origin.toLowerCase())) return true
      return isLoopback && LOOPBACK_ORIGIN.test(origin)
    },
    allowsSomeOrigin: isLoopback || origins.size > 0
  }
}
