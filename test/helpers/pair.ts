// Two services that share one Redis. The official client spreads its requests over both.

import { Client, StreamableHTTPClientTransport, type ClientCapabilities } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { RedisServer } from '../servers/redis-server.ts'
import { startService, type Service } from './service.ts'

export type Pair = readonly [Service, Service]

/** Neither service watches its catalog. Both have the same secret. */
export async function startPair (
  t: Test, redis: RedisServer, environment: { readonly [variable: string]: string }
): Promise<Pair> {
  const start = async () => await startService(t, {
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'the secret that both replicas have',
    TRIVET_WATCH: 'off',
    ...environment
  })
  return await Promise.all([start(), start()])
}

/** One request of the client. */
export interface Sent {
  /** The index of the service that received it. */
  readonly to: number
  readonly method: string
  /** The tool, the prompt or the URI. */
  readonly name: string | undefined
  /** Whether the request answers questions of the service. */
  readonly isRetry: boolean
}

export interface AlternatingClient {
  readonly client: Client
  /** Every request so far. */
  readonly sent: readonly Sent[]
  /** Every request from now on. */
  record (): () => readonly Sent[]
}

/** Sends each request to the service that did not receive the one before. */
export async function connectAlternating (
  t: Test, pair: Pair, capabilities: ClientCapabilities = {}
): Promise<AlternatingClient> {
  const sent: Sent[] = []
  const client = await connect(t, pair[0], capabilities, async (_url, init) => {
    const to = sent.length % 2
    const { method = '', params = {} } = JSON.parse(String(init?.body ?? '{}'))
    sent.push({ to, method, name: params.name ?? params.uri, isRetry: 'inputResponses' in params })
    return await fetch(to === 0 ? pair[0].url : pair[1].url, init)
  })
  return {
    client,
    sent,
    record () {
      const from = sent.length
      return () => sent.slice(from)
    }
  }
}

/** Opens the official client, which is closed when the test ends. */
export async function connect (
  t: Test, { url }: Service, capabilities: ClientCapabilities = {},
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, {
    capabilities, versionNegotiation: { mode: 'auto' }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), fetch === undefined ? {} : { fetch }))
  t.teardown(async () => await client.close())
  return client
}
