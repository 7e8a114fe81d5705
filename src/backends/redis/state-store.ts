// Records in Redis or Valkey: a hash for each, which expires by itself, and for each owner a sorted set of what is live.

import { createHash, randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import { CREATE, DELETE, FULL, LIST, READ, REPLACE, TAKEN } from './scripts.ts'
import { StoreUnavailable, type StateKey, type StateRecord, type StateStore } from '../../state/state-store.ts'

type Argument = string | number | Buffer

/** What is asked of a client: a connection to one server or to a cluster, which rejects in time and sends nothing twice. */
export interface RedisCommands {
  callBuffer (command: string, ...args: Argument[]): Promise<unknown>
  ping (): Promise<unknown>
  /** Where it has only one. */
  readonly stream?: Pick<Writable, 'cork' | 'uncork'>
}

interface Script { readonly text: string, readonly sha: string }

const SCRIPTS = { create: toScript(CREATE), read: toScript(READ), replace: toScript(REPLACE), delete: toScript(DELETE), list: toScript(LIST) }

/** Keeps records by way of the client, which stays its owner's: closing the store does not close the client. */
export function openRedisStateStore (client: RedisCommands): StateStore {
  const underWay = new Set<Promise<unknown>>()
  let closed = false
  let isGathering = false

  /** What is asked for within one turn of the event loop leaves in one write: a write costs as much as all else of a command. */
  function gather ({ stream }: RedisCommands): void {
    if (isGathering || stream === undefined) return
    isGathering = true
    stream.cork()
    setImmediate(() => {
      isGathering = false
      stream.uncork()
    })
  }

  /** Everything that goes wrong on the way to Redis, in it or on the way back is one and the same failure to the caller. */
  async function attempt<T> (work: () => Promise<T>): Promise<T> {
    if (closed) throw new StoreUnavailable(new Error('the store is closed'))
    const promise = work()
    underWay.add(promise)
    try {
      return await promise
    } catch (error) {
      throw new StoreUnavailable(error)
    } finally {
      underWay.delete(promise)
    }
  }

  async function run ({ text, sha }: Script, { owner, name }: StateKey, ...args: Argument[]): Promise<unknown> {
    // In braces is what a cluster places a key by: all keys of one owner are in one place.
    const live = `trivet:{${owner}}`
    gather(client)
    const parts = [2, `${live}:${name}`, live, name, ...args]
    try {
      return await client.callBuffer('EVALSHA', sha, ...parts)
    } catch (error) {
      // A server that does not know the script yet has done nothing.
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return await client.callBuffer('EVAL', text, ...parts)
      throw error
    }
  }

  return {
    create: async (key, value, { idleMs, endsAt }, limit) => await attempt(async () => {
      // Random, so that no version of a record that was deleted fits one that is made in its place.
      const version = randomUUID()
      const reply = await run(SCRIPTS.create, key, value.bytes, version, idleMs, endsAt ?? '', limit)
      if (reply === TAKEN) return 'taken'
      if (reply === FULL) return 'full'
      return { value, version, expiresAt: readNumber(reply) }
    }),
    read: async (key) => await attempt(async () => {
      const reply = await run(SCRIPTS.read, key)
      return reply === null ? undefined : readRecord(reply)
    }),
    replace: async (key, version, value) => await attempt(async () => {
      const next = randomUUID()
      const reply = await run(SCRIPTS.replace, key, version, value.bytes, next)
      return reply === null ? undefined : { value, version: next, expiresAt: readNumber(reply) }
    }),
    delete: async (key) => await attempt(async () => readNumber(await run(SCRIPTS.delete, key)) === 1),
    list: async (owner) => await attempt(async () => readExpiries(await run(SCRIPTS.list, { owner, name: '' }))),
    check: async () => await attempt(async () => { await client.ping() }),
    async close () {
      closed = true
      await Promise.allSettled(underWay)
    }
  }
}

function toScript (text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

function readNumber (reply: unknown): number {
  if (typeof reply !== 'number') throw new TypeError('Redis answered with something else than a number')
  return reply
}

/** RESP3 gives pairs where RESP2 gives one long list, and scores as numbers where that gives text. */
function readExpiries (reply: unknown): ReadonlyMap<string, number> {
  if (!Array.isArray(reply)) throw new TypeError('Redis answered with something else than a list')
  const flat: unknown[] = reply.flat()
  return new Map(flat.flatMap((name, index) => index % 2 === 0 ? [[String(name), Number(flat[index + 1])] as const] : []))
}

function readRecord (reply: unknown): StateRecord {
  const [bytes, version, expiresAt]: unknown[] = Array.isArray(reply) ? reply : []
  if (!Buffer.isBuffer(bytes) || !Buffer.isBuffer(version)) throw new TypeError('Redis answered with something else than a record')
  return { value: { bytes }, version: version.toString(), expiresAt: readNumber(expiresAt) }
}
