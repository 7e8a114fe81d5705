// The address of the client that sent a request: the peer of the connection or, if that is a trusted proxy,
// the address that the proxy names in X-Forwarded-For.

import type { Server } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import { ANONYMOUS } from '../../platform/access/principal.ts'
import { networkOf } from '../../platform/limits/holder.ts'

declare module 'fastify' {
  /** A request is a Sender. */
  interface FastifyRequest { readonly address: string | undefined }
}

/**
 * A connection knows its peer only while it is open, unless it was asked once. The clients of calls may be
 * gone when their address is needed.
 */
export function rememberPeers (server: Server): void {
  server.on('connection', ({ remoteAddress }) => remoteAddress)
}

/**
 * Returns a function that tells whether an address is in one of the ranges, as Fastify decides it for
 * `request.ip`. An IPv4 address within an IPv6 address is the IPv4 address.
 */
export function createRangeCheck (ranges: readonly string[]): (address: string) => boolean {
  const isInRange = compile([...ranges])
  return (address) => isInRange(address, 0)
}

/**
 * `undefined` for a connection without addresses, such as a Unix socket. A client that reset its connection
 * before the service asked for its address must not be taken for one of those.
 */
export function clientAddressOf (request: FastifyRequest): string | undefined {
  // The types of Fastify do not tell that the address of a connection may be missing.
  const address: string | undefined = request.ip
  if (address !== undefined) return isOfThisMachine(address) ? findFarthest(request) ?? address : address
  return typeof request.server.server.address() === 'string' ? undefined : 'unknown'
}

/** Shares do not limit this machine. */
function isOfThisMachine (address: string): boolean {
  return networkOf({ principal: ANONYMOUS, address }) === undefined
}

/**
 * Returns the farthest address of the proxies, or of their peers, that is not of this machine. A client of
 * another machine is none of this one, whatever X-Forwarded-For says. The list begins with the peer.
 */
function findFarthest ({ ips = [] }: FastifyRequest): string | undefined {
  return ips.findLast((address) => !isOfThisMachine(address))
}
