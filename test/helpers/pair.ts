// Two services that share one Redis, and the official client with its requests spread over both.

import { Client, StreamableHTTPClientTransport, type ClientCapabilities } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { RedisServer } from './redis-server.ts'
import { startService, type Service } from './service.ts'

export type Pair = readonly [Service, Service]

/** Neither watches its catalog; both have the same secret. */
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

/** One request that left the client. */
export interface Sent {
  /** Which of the two got it. */
  readonly to: number
  readonly method: string
  /** The tool, the prompt or the URI. */
  readonly name: string | undefined
  /** Whether it brings answers to what was asked. */
  readonly isRetry: boolean
}

export interface AlternatingClient {
  readonly client: Client
  /** Everything that it has sent. */
  readonly sent: readonly Sent[]
  /** What is sent from now on. */
  record (): () => readonly Sent[]
}

/** Whatever it sends goes to the other one than what it sent before. */
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

/** The official client, closed when the test ends. */
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
