// What a run does: commands of clients and faults, from a seed. fast-check makes them, and shrinks those that
// break something.

import fc from 'fast-check'
import type { BroadcastRates } from './broadcast.ts'
import { OPERATIONS, type FaultRates, type Snag } from './network.ts'
import type { Operation } from './probe.ts'

export const TOOLS = [
  'work', 'guarded', 'brief', 'single', 'fragile', 'slow', 'later', 'undone', 'singly', 'shortly', 'strict',
  'gentle', 'lapsing'
] as const
/** `less` and `none`: the owner with fewer scopes. */
export const RIGHTS = ['full', 'less', 'none', 'stranger'] as const
/** Which questions are answered, and how. `unfit`: the answer does not fit the form. */
export const WAYS = ['all', 'one', 'unfit', 'decline'] as const

/** Numbers choose among what there is then. `after` is the time before it, in milliseconds. */
export type Command = { readonly after: number, readonly replica: number } & (
  | {
    readonly do: 'begin',
    readonly tool: typeof TOOLS[number],
    readonly who: number,
    readonly program: readonly Operation[],
    /** How often the call is sent under one key, and how long the client waits between. Once by default. */
    readonly copies?: number,
    readonly apartMs?: number,
    /** Another call under the same key. */
    readonly twin?: { readonly tool: typeof TOOLS[number], readonly who: number },
    /** The client hangs up after this time. */
    readonly leavesMs?: number
  }
  | { readonly do: 'get', readonly job: number, readonly rights: typeof RIGHTS[number] }
  | {
    readonly do: 'answer',
    readonly job: number,
    readonly rights: typeof RIGHTS[number],
    readonly way?: typeof WAYS[number],
    /** How long the user thinks. */
    readonly ms?: number
  }
  | { readonly do: 'cancel', readonly job: number, readonly rights?: typeof RIGHTS[number] }
  | { readonly do: 'answer-thrice' | 'listen' | 'retry', readonly job: number }
  /** Many networks create handles, in the calm. */
  | { readonly do: 'crowd' }
  | { readonly do: 'open', readonly who: number }
  | { readonly do: 'add' | 'drop' | 'show', readonly ledger: number, readonly rights: typeof RIGHTS[number] }
  | {
    readonly do: 'order',
    readonly who: number,
    readonly copies: number,
    readonly hasKey: boolean,
    /** Whether its time limit is short. */
    readonly isHasty?: boolean,
    readonly ms: number,
    readonly fails: boolean,
    /** How long after each other the copies are sent: as long as the call takes by default. */
    readonly apartMs?: number
  }
  | { readonly do: 'kill' | 'pause' | 'cut' | 'away', readonly ms: number }
  | { readonly do: 'split', readonly ms: number, readonly isLost: boolean }
  | { readonly do: 'restart', readonly release: 0 | 1, readonly secrets: 'old' | 'new' | 'both' }
  | { readonly do: 'reload', readonly release: 0 | 1 }
  | { readonly do: 'clock', readonly aheadMs: number }
)

export interface Plan {
  readonly seed: number
  readonly replicas: number
  readonly faults: FaultRates
  /** None by default. */
  readonly snags?: readonly Snag[]
  readonly broadcast: BroadcastRates
  /** How long a message to or from the store usually takes at most. */
  readonly delayMs: number
  readonly commands: readonly Command[]
}

const below = (max: number) => fc.nat({ max: max - 1 })
const short = fc.oneof(below(100), below(3000))
const long = fc.oneof(below(3000), below(40_000))
const index = below(100)
/** Few callers have several tasks each. */
const who = fc.constantFrom(0, 0, 1, 2, 2, 3)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('step'), ms: short, isOnce: fc.boolean(), heeds: fc.boolean() })
  },
  // A stop interrupts it.
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('step'), ms: below(20_000), isOnce: fc.boolean(), heeds: fc.constant(true)
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('rounds'),
      ms: fc.oneof(below(500), below(4000)),
      count: fc.integer({ min: 2, max: 8 }),
      isBeside: fc.boolean()
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('both', 'fail'), ms: short }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('sleep', 'sleep', 'sleeps'), ms: long }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stray'), ms: short }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask'), questions: fc.constantFrom(1, 2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('ask-and-sleep', 'ask-or-sleep', 'ask-and-ask-later'),
      ms: long,
      lateMs: fc.oneof(fc.constant(0), below(8000))
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('ask-and-step'), ms: short }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: long }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('progress', 'progress', 'asks') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('handle') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('crash', 'throw', 'refuse') }) }
) as fc.Arbitrary<Operation>

const program = fc.array(operation, { minLength: 1, maxLength: 5 })

const rights = fc.constantFrom('full', 'full', ...RIGHTS)
const release = fc.constantFrom(0, 1)

const act = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('begin'),
      tool: fc.constantFrom(...TOOLS, 'single', 'singly', 'slow', 'work'),
      who,
      program,
      copies: fc.constant(1)
    })
  },
  // It sleeps during a deploy.
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('begin'),
      tool: fc.constant('strict'),
      who,
      program: fc.tuple(
        fc.record({ do: fc.constant('sleep'), ms: below(40_000) }),
        fc.record({ do: fc.constant('step'), ms: short })
      )
    })
  },
  // One key for two tools, or of two callers.
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('begin'),
      tool: fc.constantFrom(...TOOLS),
      who,
      program,
      twin: fc.record({ tool: fc.constantFrom(...TOOLS), who })
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('begin'),
      tool: fc.constantFrom(...TOOLS),
      who,
      program,
      copies: fc.integer({ min: 2, max: 3 }),
      apartMs: fc.oneof(fc.constant(0), below(100), long)
    })
  },
  // A plain client repeats its call after it was told the result.
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('begin'),
      tool: fc.constantFrom('slow', 'gentle'),
      who,
      program: fc.array(operation, { minLength: 1, maxLength: 2 }),
      copies: fc.constant(2),
      apartMs: fc.integer({ min: 10_000, max: 50_000 })
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('begin'), tool: fc.constantFrom('slow', 'gentle'), who, program, leavesMs: short
    })
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get'), job: index, rights }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('answer'),
      job: index,
      rights,
      way: fc.constantFrom('all', 'all', 'all', ...WAYS),
      ms: fc.oneof(fc.constant(0), short, long)
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel'), job: index, rights }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('answer-thrice', 'listen', 'retry'), job: index })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open'), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crowd') }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('add', 'add', 'add', 'show', 'show', 'drop'), ledger: index, rights
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('order'),
      who,
      copies: fc.integer({ min: 1, max: 3 }),
      hasKey: fc.boolean(),
      isHasty: fc.boolean(),
      ms: fc.oneof(short, below(25_000)),
      fails: fc.boolean(),
      apartMs: fc.oneof(fc.constant(0), short, below(25_000))
    })
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('kill', 'pause', 'cut', 'away'), ms: long }) },
  // Longer than a lease, and shorter than two.
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('pause', 'pause', 'cut'), ms: fc.integer({ min: 9000, max: 21_000 })
    })
  },
  // Longer than a task is left to the replicas with its code.
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('away'), ms: fc.integer({ min: 18_000, max: 40_000 }) })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('split'), ms: long, isLost: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('restart'),
      release,
      secrets: fc.constantFrom('old', 'both', 'both', 'both', 'both', 'new')
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload'), release }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('clock'), aheadMs: fc.integer({ min: -90_000, max: 90_000 }) })
  }
)

const command = fc.tuple(fc.record({ after: fc.oneof(below(50), short, long), replica: index }), act)
  .map(([facts, rest]) => ({ ...facts, ...rest })) as fc.Arbitrary<Command>

const snag: fc.Arbitrary<Snag> = fc.record({
  on: fc.constantFrom(...OPERATIONS, 'due', 'take'),
  nth: fc.oneof(below(20), below(150)).map((index) => index + 1),
  pauseMs: fc.oneof(below(100), fc.integer({ min: 2000, max: 7000 }), fc.integer({ min: 9000, max: 21_000 })),
  next: fc.constantFrom('nothing', 'kill', 'cut', 'cut'),
  afterMs: fc.oneof(below(100), below(4000)),
  forMs: below(30_000)
})

const rate = (perMille: number) => fc.oneof(fc.constant(0), below(perMille).map((rate) => rate / 1000))

export const plans: fc.Arbitrary<Plan> = fc.noBias(fc.record({
  seed: fc.nat(),
  replicas: fc.integer({ min: 2, max: 3 }),
  faults: fc.record({
    lost: rate(100), refused: rate(50), late: rate(20), killed: rate(15), paused: rate(15)
  }),
  broadcast: fc.record({ lost: rate(500), twice: rate(200) }),
  delayMs: fc.constantFrom(4, 4, 100, 1000),
  commands: fc.array(command, { minLength: 10, maxLength: 45, size: 'max' }),
  // Last, so that all others are those of the seed without it.
  snags: fc.array(snag, { maxLength: 6, size: 'max' })
}))
