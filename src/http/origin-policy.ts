// The allowed host names and web origins: the protection against DNS rebinding.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-endpoint

interface OriginPolicyOptions {
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}

export interface OriginPolicy {
  isAllowedHost (host: string | undefined): boolean
  /** An absent origin is allowed: the client is not a web page. */
  isAllowedOrigin (origin: string | undefined): boolean
  /**
   * To be called when the service listens on an address that other machines can reach. Until then the names
   * of this machine are allowed as well as the configured names.
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
    isAllowedHost (host) {
      // If no hosts are configured, a service that other machines can reach answers to any name.
      if (isExposed && hosts.size === 0) return true
      if (host === undefined) return false
      const name = host.toLowerCase()
      const withoutPort = name.replace(/:\d+$/, '')
      return hosts.has(name) || hosts.has(withoutPort) || (!isExposed && LOOPBACK_HOSTS.has(withoutPort))
    },
    isAllowedOrigin (origin) {
      if (origin === undefined || origins.has('*') || origins.has(origin.toLowerCase())) return true
      return !isExposed && LOOPBACK_ORIGIN.test(origin)
    },
    expose () { isExposed = true }
  }
}
