// Records in Redis or Valkey: a hash for each record, which Redis expires, and a sorted set for each owner.

import type { Writable } from 'node:stream'
import { random } from '../../../../base/time.ts'
import type { StateKey, StateRecord, StateStore } from '../../records/state-store.ts'
import { PROBE_NAME, probeWrites } from '../../records/write-probe.ts'
import { CallsUnderWay } from '../calls-under-way.ts'
import { throwUnavailable } from './redis-error.ts'
import type { ReplicaAcks } from './replica-acks.ts'
import {
  CONFIRM, CREATE, DELETE, FULL, LIST, PEEK, READ, REPLACE, runScript, TAKEN, type Argument, type Script,
  type ScriptRunner
} from './scripts.ts'

/** A connection to one server or to a cluster. It rejects in time, and sends no command twice. */
interface RedisCommands extends ScriptRunner {
  /** Absent for a cluster, which has several. */
  readonly stream?: Pick<Writable, 'cork' | 'uncork'>
}

interface RedisStateStoreOptions {
  /** Begins the name of every key. */
  readonly prefix: string
  /**
   * Absent if what Redis has written is not lost. A write that finds its work done is confirmed like any
   * other: the one that did it may not have been.
   */
  readonly acks?: ReplicaAcks | undefined
  /** Returns an owner of records for each master that is to take writes. One by default. */
  readonly findProbeOwners?: () => readonly string[]
}

/** Closing the store does not close the client. */
export function openRedisStateStore (
  client: RedisCommands, { prefix, acks, findProbeOwners = () => [PROBE_NAME] }: RedisStateStoreOptions
): StateStore {
  const calls = new CallsUnderWay(throwUnavailable)
  const attempt = calls.run
  let isCorked = false

  /**
   * Sends all commands of one turn of the event loop in one write: a write to the socket costs as much as all
   * other work for a command.
   */
  function corkOneTurn ({ stream }: RedisCommands): void {
    if (isCorked || stream === undefined) return
    isCorked = true
    stream.cork()
    setImmediate(() => {
      isCorked = false
      stream.uncork()
    })
  }

  const look = (script: Script) => async (key: StateKey) => await attempt(async () => {
    const reply = await run(script, key)
    return reply === null ? undefined : readRecord(reply)
  })

  async function run (script: Script, { owner, name }: StateKey, ...args: Argument[]): Promise<unknown> {
    // A cluster selects the node by the text in braces: all keys of one owner are on one node.
    const live = `${prefix}:{${owner}}`
    corkOneTurn(client)
    return await runScript(client, script, [`${live}:${name}`, live], [name, ...args])
  }

  const store: StateStore = {
    create: async (key, value, { idleMs, endsAt }, limit) => await attempt(async () => {
      // Random, so that a new record never has the version of a deleted one.
      const version = random.uuid()
      const reply = await run(CREATE, key, value.bytes, version, idleMs, endsAt ?? '', limit)
      if (reply === FULL) return 'full'
      await acks?.confirm(reply !== TAKEN)
      if (reply === TAKEN) return 'taken'
      return { value, version, expiresAt: readNumber(reply) }
    }),
    read: look(READ),
    peek: look(PEEK),
    replace: async (key, version, value, lifetime) => await attempt(async () => {
      const next = random.uuid()
      const times = lifetime === undefined ? [] : [lifetime.idleMs, lifetime.endsAt ?? '']
      const reply = await run(REPLACE, key, version, value.bytes, next, ...times)
      await acks?.confirm(reply !== null)
      if (reply === null) return undefined
      return { value, version: next, expiresAt: readNumber(reply) }
    }),
    confirm: async (key, version) => await attempt(async () => {
      const isPresent = readNumber(await run(CONFIRM, key, version)) === 1
      await acks?.confirm(false)
      return isPresent
    }),
    delete: async (key) => await attempt(async () => {
      const isDeleted = readNumber(await run(DELETE, key)) === 1
      await acks?.confirm(isDeleted)
      return isDeleted
    }),
    list: async (owner) => await attempt(async () => {
      const expiries = new Map<string, number>()
      let cursor = '0'
      do {
        // In pages, because all other commands wait for a script.
        const page = readTexts(await run(LIST, { owner, name: '' }, cursor))
        for (let at = 1; at < page.length; at += 2) expiries.set(page[at] ?? '', Number(page[at + 1]))
        cursor = page[0] ?? '0'
      } while (cursor !== '0')
      return expiries
    }),
    async check () {
      // Each master is asked at once: the answer then needs no more time than that of one.
      await Promise.all(findProbeOwners().map(async (owner) => {
        await probeWrites(store, { owner, name: PROBE_NAME })
      }))
    },
    close: async () => await calls.close()
  }
  return store
}

function readNumber (reply: unknown): number {
  if (typeof reply !== 'number') throw new TypeError('the answer of Redis is no number')
  return reply
}

function readTexts (reply: unknown): string[] {
  if (!Array.isArray(reply)) throw new TypeError('the answer of Redis is no list')
  return reply.map(String)
}

function readRecord (reply: unknown): StateRecord {
  const [bytes, version, expiresAt]: unknown[] = Array.isArray(reply) ? reply : []
  if (!Buffer.isBuffer(bytes) || !Buffer.isBuffer(version)) {
    throw new TypeError('the answer of Redis is no record')
  }
  return { value: { bytes }, version: version.toString(), expiresAt: readNumber(expiresAt) }
}
