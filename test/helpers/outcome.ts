// All that a caller sees of an answer, so that two answers can be compared to the byte.

import type { FastifyInstance } from 'fastify'
import { toPost, type RequestParts } from './request.ts'

/** An HTTP request. */
export interface Visit {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly payload?: string | Buffer
}

/** These differ from one request to the next. */
const OWN_HEADERS = ['date', 'x-request-id']

/** @param names the names, ids and tokens that the request itself has. They are replaced in the answer. */
export async function outcomeOf (
  app: FastifyInstance, visit: Visit, names: readonly string[] = []
): Promise<string> {
  const { statusCode, headers, rawPayload } = await app.inject(visit)
  const lines = Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name)).toSorted()
  const text = [statusCode, ...lines.map((line) => line.join(': ')), rawPayload.toString('latin1')].join('\n')
  return names.reduce((masked, name) => masked.replaceAll(name, '*'), text)
}

export function toVisit (parts: RequestParts): Visit {
  const { headers, body } = toPost(parts)
  return { method: 'POST', url: '/mcp', headers, payload: body }
}
