// Whose web pages, and under which host names, the service answers: the guard against DNS rebinding.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint

export interface OriginPolicyOptions {
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

export interface OriginPolicy {
  allowsHost (host: string | undefined): boolean
  /** An absent origin is no web page, and is allowed. */
  allowsOrigin (origin: string | undefined): boolean
  /**
   * Says that machines other than this one can reach the service. Until then only the names of this machine
   * are right, beside those that are allowed.
   */
  expose (): void
}

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

export function createOriginPolicy ({ allowedHosts, allowedOrigins }: OriginPolicyOptions): OriginPolicy {
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  let isExposed = false

  return {
    allowsHost (host) {
      // Where nothing is said of it, a service that others can reach has any name.
      if (isExposed && hosts.size === 0) return true
      if (host === undefined) return false
      const name = host.toLowerCase()
      const withoutPort = name.replace(/:\d+$/, '')
      return hosts.has(name) || hosts.has(withoutPort) || (!isExposed && LOOPBACK_HOSTS.has(withoutPort))
    },
    allowsOrigin (origin) {
      if (origin === undefined || origins.has('*') || origins.has(origin.toLowerCase())) return true
      return !isExposed && LOOPBACK_ORIGIN.test(origin)
    },
    expose () { isExposed = true }
  }
}
