// Faults as small changes of the sources: those that the service once had, and one for each promise that the
// models check. The simulation must find each of them.

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Mutation {
  readonly name: string
  /** The first seed of the search, for a fault that is seldom found. */
  readonly seed?: number
  /** The file is in src. */
  readonly edits: ReadonlyArray<readonly [file: string, before: string, after: string]>
}

const TABLE = 'features/tasks/machine/transition-table.ts'
const FIRST_RUN = 'features/tasks/calls/first-run.ts'
const TRANSITIONS = 'features/tasks/machine/transitions.ts'
const STATES = 'features/tasks/machine/states.ts'
const ACCESS = 'features/tasks/clients/access.ts'
const RECORDS = 'features/tasks/records/records.ts'
const RUN = 'features/tasks/runs/run.ts'
const SHARES = 'platform/store/records/shares.ts'
const RUN_ROWS = 'features/tasks/machine/run-rows.ts'
const RUNNER = 'features/tasks/runs/runner.ts'
const FIRST_ANSWERS = 'platform/store/records/first-answers.ts'

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a run that sleeps moves its due time before it gives the task up',
    edits: [[
      TRANSITIONS, 'if (transition?.isHeld === true) {', `if (typeof transition?.due === 'number') {
        const late = transition.due - storeClock.now()
        await this.#attempt(isUrgent, async () => await this.#setDue(key, late, generation + 1))
      } else if (transition?.isHeld === true) {`
    ]]
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
      [RECORDS, 'if (error instanceof StoreUnavailable) this.#removals.add(key.state, isOwn)', '']
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
    edits: [[RUN, 'if (clock.monotonic() >= endsAt) await', 'if (endsAt < 0) await']]
  },
  {
    name: 'a poison task ends every replica',
    edits: [[TABLE, 'losses + 1 >= MAX_LOSSES', 'losses + 1 >= Infinity']]
  },
  {
    name: 'a replica that cannot open a record deletes its due time',
    edits: [[
      RUNNER, "else if (await records.exists(key)) await this.#leave(key, 'sealed')\n", ''
    ]]
  },
  {
    name: 'a replica of an older release ends the tasks of a newer one',
    edits: [[
      RUNNER,
      "await this.#toolRuns?.accepts(tool, args, undo === 'due') === true", "tool !== '' && args !== undo"
    ]]
  },
  {
    name: 'after a sleep a handler has no network',
    edits: [['features/tasks/records/record.ts', "network?.replace('/64', '')", 'undefined']]
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
    edits: [[RUN, 'clock.monotonic() < this.#leaseEndsAt\n', 'clock.monotonic() < Infinity\n']]
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
      ACCESS, "if (!isTerminal(status) && status !== 'input_required') return true",
      "if (status !== 'input_required') return true"
    ]]
  },
  {
    name: 'a task that a paused replica creates has no due time',
    edits: [[
      'features/tasks/calls/first-record.ts', 'if (isShared || isShortLease(heldAt, leaseMs)) {',
      'if (leaseMs === 0) {'
    ]]
  },
  {
    name: 'a stream ignores that it has missed events',
    edits: [[
      'features/tasks/runs/watches.ts', "else if (event.type === 'events-missed')", 'else if (Date.now() < 0)'
    ]]
  },
  {
    name: 'a status whose writer was lost is not told',
    seed: 3891,
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
  },
  {
    name: 'an answer that comes while the handler runs is dropped',
    edits: [[RUN_ROWS, '{ ...record.answers, ...answers }', '{ ...answers }']]
  },
  {
    name: 'an answer is kept under another question',
    edits: [[
      'features/tasks/machine/questions.ts', 'JSON.stringify(responses[name])] as const)',
      'JSON.stringify(responses[answered[0]?.[0] ?? name])] as const)'
    ]]
  },
  {
    name: 'a sleep ends with the first one beside it',
    edits: [['features/tasks/machine/transition-row.ts', 'endsAt <= wakesAt ? 0 : endsAt', '0']]
  },
  {
    name: 'a replica that was paused knows an earlier time of the store',
    edits: [[
      'platform/store/records/due-times.ts',
      'Math.min(Math.max(this.#aheadMs, least), least + clock.monotonic() - askedAt)', 'least + 0 * askedAt'
    ]]
  },
  {
    name: 'a handler acts for ever with the rights of the call that began its task',
    edits: [[TABLE, 'change: (_, { principal }) => ({ principal })', 'change: () => ({})']]
  },
  {
    name: 'two first calls of one key both run',
    edits: [[
      RECORDS, 'const isOwn = mark === record.mark ||', "const isOwn = mark !== '' ||"
    ]]
  },
  {
    name: 'two first calls of one key of an idempotent tool both run',
    edits: [[
      FIRST_ANSWERS, "if (created === 'taken') return undefined",
      "if (created === 'taken') return toFirstRun(slot, head, '')"
    ]]
  },
  {
    name: 'a repetition tells of a task whose creation is in doubt',
    seed: 5746,
    edits: [[
      'features/tasks/calls/names.ts', 'const stored = await records.adopt(first.key, first)',
      'const stored = first'
    ]]
  },
  {
    name: 'a repetition frees the place of the first call',
    edits: [
      [RECORDS, 'mark, isOver, error', 'mark, async () => isOver !== null, error'],
      [SHARES, 'return value.bytes.toString() === mark', 'return value !== mark as never']
    ]
  },
  {
    name: 'the place of a network is not given back after the loss of a replica',
    edits: [[
      SHARES, 'await store.delete(key)\n      if (network !== undefined) await store',
      'const isDeleted = await store.delete(key)\n      if (isDeleted && network !== undefined) await store'
    ]]
  },
  {
    name: 'a call that was told is forgotten before its work is undone',
    edits: [['features/tasks/calls/waiters.ts', '    if (undo !== undefined) return\n', '']]
  },
  {
    name: 'the work of a task whose time is over is not undone',
    edits: [
      [
        TABLE, 'change: (record) => fail(record, taskExpired(record.ttlMs))',
        'change: (record) => ({ ...fail(record, taskExpired(record.ttlMs)), undo: undefined })'
      ],
      [
        RUN_ROWS, '...fail(record, taskExpired(record.ttlMs)) }',
        '...fail(record, taskExpired(record.ttlMs)), undo: undefined }'
      ]
    ]
  },
  {
    name: 'an undo must end within the time limit of its task',
    edits: [[
      'features/tasks/records/record.ts', "record.undo === 'due' ? endOfUndo(record) : endOfWork(record)",
      'endOfWork(record)'
    ]]
  },
  {
    name: 'a step that a stop interrupts counts as failed',
    edits: [[
      'features/tasks/journal/journal.ts', 'if (!isEnd && this.#owner?.isStopped !== true)', 'if (!isEnd)'
    ]]
  },
  {
    name: 'the work of a call that ends in an error for the model is not undone',
    edits: [[RUN_ROWS, 'holds: (_, { isError }) => isError,', 'holds: () => false,']]
  },
  {
    name: 'a run tells again how far an earlier one was',
    seed: 1270,
    edits: [[
      'features/tasks/runs/run-progress.ts',
      'if (this.#isUndo || report.progress <= progress) return false', ''
    ]]
  },
  {
    name: 'a run that an answer has begun is taken for lost',
    edits: [[
      RUNNER, 'stored?.record.isRunning === true && lastSeenAt(stored.record) > time - leaseMs / 10',
      'time < 0'
    ]]
  },
  {
    name: 'the late news of an ended run stops the next one',
    seed: 12_875,
    edits: [[RUNNER, 'run !== undefined && run.number <= number', 'run !== undefined && number >= 0']]
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
