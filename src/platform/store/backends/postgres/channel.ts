// Sends texts to all other processes that have the same schema open. Each text is a row with a number. A
// process reads the rows after the last one that it has read.

import { singleFlight } from '../../../../base/single-flight.ts'
import { random, timers, type Timer } from '../../../../base/time.ts'
import type { Channel, ChannelListener } from '../../changes/channel-broadcast.ts'
import type { PostgresTarget } from './connections/connection.ts'
import { gatherInOrder, type Waiter } from './gather.ts'
import type { SchemaNames } from './schema/schema.ts'
import { NOW_MS, readNumber, readText, toStatement, type StatementRunner } from './statement.ts'
import { createWakeups } from './wakeups.ts'

export interface PostgresChannelDependencies {
  readonly target: PostgresTarget
  readonly runner: StatementRunner
  readonly names: SchemaNames
}

interface Text extends Waiter<void> { readonly text: string }

/** A wake-up may be lost. */
const POLL_MS = 5000
/** Without wake-ups, and during an outage. */
const FAST_POLL_MS = 200
/** How long the first probe may take, in milliseconds. */
const PROBE_MS = 1000
const PAGE = 500
/** How long a text may wait until it is sent, in milliseconds: as long as a statement. */
const SEND_MS = 1400

/**
 * The row of the channel numbers the texts. A transaction that sends texts holds that row until its commit,
 * so the numbers become visible in their order, without gaps: whoever has read up to a number has read all
 * before it. The table is unlogged: after a crash of the server, or a failover, the row has another epoch,
 * and all processes know that texts may be lost.
 */
function createStatements ({ channel, messages }: SchemaNames) {
  return {
    /** The name of a new epoch. */
    begin: toStatement(`
      INSERT INTO ${channel} (id, epoch, last_id, removed_id) VALUES (1, $1, 0, 0) ON CONFLICT (id) DO NOTHING
    `),
    /** Origin, an array of texts, the name of the channel. Returns a row if it has sent them. */
    send: toStatement(`
      WITH numbered AS (
        UPDATE ${channel} SET last_id = last_id + cardinality($2::text[]) WHERE id = 1
        RETURNING last_id - cardinality($2::text[]) AS before
      ),
      added AS (
        INSERT INTO ${messages} (id, origin, text, sent_at) SELECT before + place, $1, text, ${NOW_MS}
        FROM numbered, unnest($2::text[]) WITH ORDINALITY AS t(text, place)
      )
      SELECT pg_notify($3, $1) FROM numbered
    `),
    /**
     * The last number that was read, origin, the most rows. Returns the epoch, the last number and the last
     * one that was removed, each time with a text of another origin and its number, if there is one.
     */
    read: toStatement(`
      SELECT c.epoch, c.last_id, c.removed_id, m.id, m.text FROM ${channel} AS c
      LEFT JOIN ${messages} AS m ON m.id > $1 AND m.origin <> $2 WHERE c.id = 1 ORDER BY m.id LIMIT $3
    `)
  }
}

export function createPostgresChannel (
  { target, runner, names }: PostgresChannelDependencies,
  { onText, onMissed, onRestored, onError }: ChannelListener
): Channel {
  const statements = createStatements(names)
  const origin = random.uuid()
  let epoch: string | undefined
  let lastId = 0
  let unsent: readonly string[] = []
  let isReading = false
  let isClosed = false
  let isAskedAgain = false
  let timer: Timer | undefined

  const wakeups = createWakeups({ target, runner, names, origin, onWake: wake, onError })

  function safely (work: () => void): void {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }

  const readAll = singleFlight(async () => {
    do {
      isAskedAgain = false
      if (isClosed) return
      // A wake-up meanwhile sets it too.
      if (await readPage()) isAskedAgain = true
    } while (isAskedAgain)
  })

  /** Resolves to whether there may be more. */
  async function readPage (): Promise<boolean> {
    const rows = await runner.run(statements.read, [lastId, origin, PAGE])
    const [first] = rows
    if (first === undefined) {
      await runner.run(statements.begin, [random.uuid()])
      return true
    }
    const [newEpoch, last, removed] = [readText(first[0]), readNumber(first[1]), readNumber(first[2])]
    const isOther = newEpoch !== epoch
    const isMissed = epoch !== undefined && (isOther || removed > lastId)
    const texts = isOther ? [] : rows.flatMap(([, , , id, text]) => id === null ? [] : [[id, text] as const])
    const hasMore = rows.length === PAGE && !isOther
    epoch = newEpoch
    lastId = hasMore ? readNumber(texts.at(-1)?.[0]) : last
    if (isMissed && !isClosed) safely(onMissed)
    for (const [, text] of texts) if (!isClosed) safely(() => { onText(readText(text)) })
    return hasMore
  }

  function wake (): void {
    isAskedAgain = true
    readAll().then(() => {
      isReading = true
      restore()
      // This wake-up came when the last read had already ended.
      if (isAskedAgain) wake()
    }, (error: unknown) => {
      isReading = false
      onError(error)
      schedule()
    })
  }

  function restore (): void {
    if (unsent.length === 0 || isClosed) return
    const kinds = unsent
    unsent = []
    safely(() => { onRestored(kinds) })
  }

  const isWhole = () => isReading && unsent.length === 0

  function schedule (): void {
    timers.clear(timer)
    if (isClosed) return
    const isCalm = isWhole() && wakeups.isHearing
    timer = timers.setTimeout(poll, isCalm ? POLL_MS : FAST_POLL_MS).unref()
  }

  function poll (): void {
    wakeups.check(POLL_MS)
    wake()
    schedule()
  }

  async function sendAll (texts: readonly Text[], waitedMs: number): Promise<void> {
    const values = [origin, texts.map(({ text }) => text), wakeups.channel]
    const [row] = await runner.run(statements.send, values, { waitedMs })
    if (row === undefined) {
      // A crash of the server has emptied the table, and nothing was sent.
      await runner.run(statements.begin, [random.uuid()])
      const [again] = await runner.run(statements.send, values)
      if (again === undefined) throw new Error('the channel of PostgreSQL cannot be written')
    }
    for (const { resolve } of texts) resolve()
  }

  const ask = gatherInOrder<Text>(sendAll, { deadlineMs: SEND_MS })

  return {
    get isWhole (): boolean { return isWhole() },
    /** If wake-ups do not arrive, the channel polls. */
    async open () {
      await readAll()
      isReading = true
      await wakeups.open(PROBE_MS)
      if (!wakeups.isHearing) {
        target.onRestriction(`a pooler does not pass on NOTIFY: changes are read every ${FAST_POLL_MS} ms`)
      }
      schedule()
    },
    async send (text, kinds) {
      try {
        await new Promise<void>((resolve, reject) => { ask({ text, resolve, reject }) })
      } catch (error) {
        unsent = [...new Set([...unsent, ...kinds])]
        schedule()
        throw error
      }
    },
    async close () {
      isClosed = true
      timers.clear(timer)
      await wakeups.close()
    }
  }
}
