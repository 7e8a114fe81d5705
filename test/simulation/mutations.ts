// Faults that the service once had, as small changes of its sources. The simulation must find each of them.

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Mutation {
  readonly name: string
  /** The file is in src. */
  readonly edits: ReadonlyArray<readonly [file: string, before: string, after: string]>
}

const TABLE = 'tasks/table/transition-table.ts'
const FIRST_RUN = 'tasks/calls/first-run.ts'
const TRANSITIONS = 'tasks/transitions.ts'
const STATES = 'tasks/states.ts'
const ACCESS = 'tasks/access.ts'
const FIRST_ANSWERS = 'store/records/first-answers.ts'

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a run that sleeps moves its due time before it gives the task up',
    edits: [[TRANSITIONS, 'if (isHeld) await', `if (typeof transition.due === 'number') {
      const late = transition.due - storeClock.now()
      await this.#attempt(isUrgent, async () => await this.#setDue(key, late, generation + 1))
    } else if (isHeld) await`]]
  },
  {
    name: 'a replica that read a task as waiting sets its due time without looking again',
    edits: [
      [TABLE, "'it sleeps', to: 'waiting', change: () => ({}) })", "'it sleeps', to: 'waiting' })"],
      [TABLE, "'no answer came', to: 'asking', change: () => ({}) })", "'no answer came', to: 'asking' })"],
      // Due times had no generations then.
      [
        TRANSITIONS, 'due - storeClock.now()), record.generation',
        'due - storeClock.now()), record.wakesAt === undefined ? record.generation : 1e9'
      ],
      [TRANSITIONS, "if (typeof due !== 'number') return stored", 'if (due !== -1) return stored']
    ]
  },
  {
    name: 'a lost reply to the creation of a task makes a ghost',
    edits: [
      [FIRST_RUN, 'error instanceof StoreUnavailable && this.#options.rule.mayRerun', 'false'],
      ['tasks/records.ts', 'if (error instanceof StoreUnavailable) this.#removals.add(key.state, isOwn)', '']
    ]
  },
  {
    name: 'a run that does not know its own write takes itself for lost',
    edits: [[
      TABLE, "on: 'called',\n    when: 'its handler must not run again',",
      "on: 'called',\n    holds: ({ isCalled }) => !isCalled,\n    when: 'its handler must not run again',"
    ]]
  },
  {
    name: 'a run that renews its lease after its end is begun elsewhere too',
    edits: [['tasks/run.ts', 'if (clock.monotonic() >= endsAt) return', 'if (endsAt < 0) return']]
  },
  {
    name: 'a poison task ends every replica',
    edits: [[TABLE, 'losses + 1 >= MAX_LOSSES', 'losses + 1 >= Infinity']]
  },
  {
    name: 'a replica that cannot open a record deletes its due time',
    edits: [[
      'tasks/runner.ts', "else if (await records.exists(key)) await this.#leave(key, 'sealed')\n", ''
    ]]
  },
  {
    name: 'a replica of an older release ends the tasks of a newer one',
    edits: [[
      'tasks/runner.ts',
      "await this.#toolRuns?.accepts(tool, args, undo === 'due') === true", "tool !== '' && args !== undo"
    ]]
  },
  {
    name: 'after a sleep a handler has no network',
    edits: [['tasks/record.ts', "network?.replace('/64', '')", 'undefined']]
  },
  {
    name: 'a lost reply when a task wakes fails it as interrupted',
    edits: [
      [TRANSITIONS, 'if (current?.record.mark !== record.mark) return', 'if (current !== null) return'],
      [TABLE, 'isCalled: mayRerun,', 'isCalled: run > 0,']
    ]
  },
  {
    name: 'the retry of an update and of a cancel is acknowledged before it is durable',
    edits: [[
      ACCESS, 'transition?.record !== undefined || await this.#dependencies.records.confirm(key, version)',
      'transition?.record !== null'
    ]]
  },
  {
    name: 'a first answer that came second is the answer all the same',
    edits: [[
      FIRST_ANSWERS, 'lifetime) !== undefined) return answer\n      for',
      'lifetime) !== null) return answer\n      for'
    ]]
  },
  {
    name: 'a lost first run deletes the record of the one that took over',
    edits: [[
      FIRST_ANSWERS, 'await store.replace(key, created, value, GONE))',
      'await store.delete(key).then(() => undefined))'
    ]]
  },
  {
    name: 'a step does not try again while the store is away',
    edits: [['request/questions/run-step.ts', '(isOutage(error) || mayRetry(error))', 'mayRetry(error)']]
  },
  {
    name: 'new steps begin after a lost lease',
    edits: [['tasks/run.ts', 'clock.monotonic() < this.#leaseEndsAt\n', 'clock.monotonic() < Infinity\n']]
  },
  {
    name: 'tasks ask who, and not whether they may',
    edits: [[ACCESS, 'if (!this.isVisible(principal, stored.record)) throw unknownTask()', '']]
  },
  {
    name: 'calls of all callers without a session share their ids',
    edits: [[
      'request/pipeline/run-deduped.ts',
      "return sessionId === undefined ? undefined : ['id', sessionId, id, args]", "return ['id', id, args]"
    ]]
  },
  {
    name: 'a replica runs a call whose lease has passed before it began',
    edits: [[FIRST_ANSWERS, 'return clock.monotonic() < usedAt + RENEW_EVERY_MS', 'return usedAt < Infinity']]
  },
  {
    name: 'tasks/get tells of an end that a failover undoes',
    edits: [[
      ACCESS, '!isTerminal(record.status) || await this.#dependencies.records.confirm(key, version)',
      "record.status !== ''"
    ]]
  },
  {
    name: 'a task that a paused replica creates has no due time',
    edits: [[
      'tasks/calls/first-record.ts', 'if (clock.monotonic() >= heldAt + leaseMs) {', 'if (leaseMs === 0) {'
    ]]
  },
  {
    name: 'a stream ignores that it has missed events',
    edits: [['tasks/watches.ts', "else if (event.type === 'events-missed')", 'else if (Date.now() < 0)']]
  },
  {
    name: 'a status whose writer was lost is not told',
    edits: [[STATES, ' || mayBeUntold(record, event)', '']]
  },
  {
    name: 'the end of a task that waits is not held',
    edits: [[STATES, "due === 'lease' || endsAtRest ||", "due === 'lease' ||"]]
  },
  {
    name: 'a due time that comes late cuts the lease of the next run',
    edits: [[TRANSITIONS, 'Math.max(inMs, leaseMs)', 'inMs']]
  },
  {
    name: 'an end that a failover took back sets a due time',
    edits: [[TRANSITIONS, "if (typeof due !== 'number') return stored", 'if (due !== -1) return stored']]
  }
]

/** Returns the texts that are not in the sources exactly once: these mutations cannot be made. */
export function findStaleEdits (project: string): string[] {
  return MUTATIONS.flatMap(({ name, edits }) => edits.flatMap(([file, before]) => {
    const count = readFileSync(join(project, 'src', file), 'utf8').split(before).length - 1
    return count === 1 ? [] : [`${name}: ${file} has this text ${count} times: ${before}`]
  }))
}

/** Copies what a simulation needs to a folder, with the mutation in it. */
export function writeMutant (project: string, folder: string, { edits }: Mutation): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const part of ['src', 'test', 'package.json', 'tsconfig.json']) {
    cpSync(join(project, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, before, after] of edits) {
    const path = join(folder, 'src', file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(before, after))
  }
}
