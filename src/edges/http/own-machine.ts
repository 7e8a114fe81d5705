// The guards of what `trivet dev` serves to its author: requests of this machine alone, and of no other page.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { LOOPBACK_HOST } from './origin-policy.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** What proxies and tunnels say of the request that they pass on. */
const FORWARDING_HEADER = /^(?:via|forwarded|x-forwarded-.*|x-(?:real|client)-ip|x-original-.*|cf-.*|true-client-ip)$/

/** @param name of what is served, for the answer. */
export function refuseOtherMachines (name: string): Hook {
  return (request, reply, done) => {
    const problem = findProblem(name, request)
    if (problem === undefined) done()
    else reply.code(403).type('text/plain').send(`${problem}\n`)
  }
}

/** A tunnel or a proxy brings requests of others, whatever host they ask for. Most of them can be told. */
function findProblem (name: string, { headers, raw: { httpVersion } }: FastifyRequest): string | undefined {
  if (!LOOPBACK_HOST.test(headers.host ?? '')) {
    return `The ${name} answers to http://localhost and http://127.0.0.1 only`
  }
  // Proxies that say nothing often speak HTTP 1.0 to the service. No browser does.
  return httpVersion === '1.0' || Object.keys(headers).some((header) => FORWARDING_HEADER.test(header))
    ? `The ${name} answers requests of this machine only, and this one has been forwarded`
    : undefined
}

/** Other pages of this machine may call the endpoint. They may not pick callers. */
export function refuseOtherPages (name: string): Hook {
  return ({ headers: { host, origin, 'sec-fetch-site': site } }, reply, done) => {
    const isOwn = (origin === undefined || origin.toLowerCase() === `http://${host?.toLowerCase()}`) &&
      (site === undefined || site === 'same-origin' || site === 'none')
    if (isOwn) done()
    else reply.code(403).type('text/plain').send(`Only the page of the ${name} may ask this\n`)
  }
}
