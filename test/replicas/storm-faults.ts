// The faults of a storm, one after the other.

import { setTimeout as pause } from 'node:timers/promises'
import type { FaultyConnection } from '../servers/faulty-connection.ts'
import type { Place } from './places.ts'
import { createRandom } from './shopping.ts'

const EVERY_MS = 1500
/**
 * The faults by which a task may lose its replica. Without a reply, a replica does not know that it has begun
 * a run, or renews no lease.
 */
const LOSSES = ['kills', 'pauses', 'cuts', 'lost replies']

export interface Faults {
  /** How many of each kind. */
  readonly counts: ReadonlyMap<string, number>
  /** When each of them was that may lose a replica, by `performance.now()`. */
  readonly times: readonly number[]
  /** The exit codes of the replicas that were ended by SIGTERM. */
  readonly exits: ReadonlyArray<Promise<number | null>>
}

interface FaultOptions {
  readonly seconds: number
  /** How long a replica stands still. */
  readonly pauseMs: number
}

/** Makes faults until the time is over. */
export async function wreak (
  places: readonly Place[], faulty: FaultyConnection, { seconds, pauseMs }: FaultOptions
): Promise<Faults> {
  const random = createRandom(seconds)
  const pick = (from = places) => from[Math.floor(random() * from.length)]
  const exits: Array<Promise<number | null>> = []
  /** Moves a place of the release that has more of them to the other. Both releases go on serving. */
  const deploy = async () => {
    const second = places.filter(({ release }) => release === 1)
    const isSecondLarger = second.length > places.length / 2
    const place = pick(isSecondLarger ? second : places.filter(({ release }) => release === 0))
    const { exited } = await place?.deploy(isSecondLarger ? 0 : 1) ?? {}
    if (exited !== undefined) exits.push(exited)
  }
  const kinds: ReadonlyArray<readonly [string, () => Promise<void> | undefined | void]> = [
    ['releases', deploy],
    ['kills', () => pick()?.replace()],
    ['pauses', () => pick()?.pause(pauseMs)],
    ['cuts', () => faulty.cut()],
    ['lost replies', () => faulty.loseReplies()],
    ['delays', async () => {
      faulty.delay(300)
      await pause(1000)
      faulty.delay(0)
    }]
  ]
  const counts = new Map<string, number>()
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  for (let number = 0; performance.now() < end; number++) {
    const beat = pause(EVERY_MS)
    const [name, make] = kinds[number % kinds.length] ?? ['', () => {}]
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (LOSSES.includes(name)) times.push(performance.now())
    await make()
    await beat
  }
  return { counts, times, exits }
}
