// The cookies of the sign-in: for this host alone, and out of the reach of scripts.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Cookie, Cookies } from '../../features/sign-in/flows/cookies.ts'

/** @param isSecure whether browsers come by https. */
export function createCookies (isSecure: boolean) {
  const prefix = `${isSecure ? '__Host-' : ''}sign-in-`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    of ({ headers: { cookie = '' } }: FastifyRequest): Cookies {
      const pairs = cookie.split(/; */).filter((pair) => pair.startsWith(prefix))
        .map((pair) => pair.slice(prefix.length))
      return {
        read: (name) => pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1),
        list: (start) => pairs.filter((pair) => pair.startsWith(start)).map((pair) => pair.replace(/=.*$/, ''))
      }
    },
    set (reply: FastifyReply, cookies: readonly Cookie[]): void {
      const lines = cookies.map(
        ({ name, value, seconds }) => `${prefix}${name}=${value}; Max-Age=${seconds}; ${attributes}`
      )
      if (lines.length > 0) reply.header('set-cookie', lines)
    }
  }
}
