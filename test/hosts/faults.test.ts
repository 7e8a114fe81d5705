// A call of a host without tasks ends once, and what its model was told stays so, whatever happens to the
// replica that serves it: at every operation of the store it is killed or paused, or loses the reply, or the
// store is away for longer than a request tries again.

import t, { type Test } from 'tap'
import { defineTool } from '../../src/platform/author/define-tool.ts'
import { elicit } from '../../src/platform/author/input-request.ts'
import { timers } from '../../src/base/time.ts'
import { CatalogCompiler } from '../../src/catalog/compiled/compile-catalog.ts'
import type { Snapshot } from '../../src/catalog/compiled/snapshot.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { readCatalog } from '../helpers/load-catalog.ts'
import { VirtualTime } from '../helpers/virtual-time.ts'
import { callOf, textOf } from './plain-client.ts'
import {
  FAULTS, LEASE_MS, openPlainWorld, type Fault, type Replica, type ToolCall
} from './plain-replicas.ts'

/** More than the operations of the store in one life of a call. */
const OPERATIONS = 60
const MAX_MS = 600_000
/** How long a user thinks: longer than the service first waits to remove what it could not create. */
const USER_MS = 10_000
const AGAIN_MS = 1000

/** What each piece of work has returned, by its key. */
const values = new Map<string, string[]>()

function work (key: string): string {
  const all = values.get(key) ?? []
  values.set(key, all)
  all.push(`${key}-${all.length}`)
  return all.at(-1) ?? ''
}

const form = (message: string) => elicit.form({ message, schema: { type: 'object', properties: {} } })

/** Its call is kept before the first step. */
const kept = defineTool({
  name: 'kept',
  task: 'allowed',
  relayQuestions: true,
  onReplicaLoss: 'rerun',
  async run (_args, ctx) {
    const one = await ctx.step('one', () => work('one'))
    await ctx.ask({ go: form(`Has ${one}. Go on?`) })
    const two = await ctx.step('two', () => work('two'))
    await ctx.sleep(2000)
    await ctx.ask({ end: form(`Has ${one} ${two}. Go on?`) })
    return `${one} ${two} ${await ctx.step('three', () => work('three'))}`
  }
})

/** Its call is kept at the first question. */
const relayed = defineTool({
  name: 'relayed',
  relayQuestions: true,
  async run (_args, ctx) {
    const one = await ctx.once('one', () => work('one'))
    await ctx.ask({ go: form(`Has ${one}. Go on?`) })
    const two = await ctx.once('two', () => work('two'))
    await ctx.ask({ end: form(`Has ${one} ${two}. Go on?`) })
    return `${one} ${two} ${await ctx.once('three', () => work('three'))}`
  }
})

const TOOLS = [kept, relayed]

async function toSnapshot (t: Test): Promise<Snapshot> {
  const { contents } = await readCatalog(await writeCatalog(t, {}))
  const tools = TOOLS.map((definition) => ({
    definition, file: `tools/${definition.name}.ts`, place: 'default', fingerprint: 'code'
  }))
  return await new CatalogCompiler({ pageSize: 1000 }).compile({ ...contents, tools })
}

/** What came of a call. */
interface Followed {
  readonly text: string
  /** The values that the model was told of. */
  readonly told: ReadonlySet<string>
  /** How many calls of the tool had no answer. */
  readonly strays: number
}

/** Does what the texts tell a model. Sends a request again that had no answer, to another replica. */
async function follow (replicas: readonly Replica[], first: ToolCall): Promise<Followed> {
  const told = new Set<string>()
  let strays = 0
  let request = first
  for (let attempt = 0; ; attempt++) {
    const replica = replicas.filter(({ isDead }) => !isDead)[attempt % 2] ?? replicas.at(-1)
    const reply = await replica?.call(request)
    const text = reply?.error?.message ?? textOf(reply?.result ?? {})
    if (reply === undefined || reply.error?.code === 503 || /cannot be reached/.test(text)) {
      if (request === first) strays++
      await timers.pause(AGAIN_MS)
      continue
    }
    for (const [value] of text.matchAll(/(?:one|two|three)-\d/g)) told.add(value)
    if (!text.includes('continue_call')) return { text, told, strays }
    const [, question] = /^Question "([^"]+)"/m.exec(text) ?? []
    if (question !== undefined) await timers.pause(USER_MS)
    const answers = question === undefined ? {} : { answers: { [question]: {} } }
    request = { name: 'continue_call', args: { call: callOf(reply.result), ...answers } }
  }
}

interface FaultyCall {
  readonly name: string
  readonly key: string | undefined
  readonly at: number
  readonly fault: Fault
}

/** Runs one call. Resolves to whether it came to the fault. */
async function runCall (
  t: Test, time: VirtualTime, snapshot: Snapshot, { name, key, at, fault }: FaultyCall
): Promise<boolean> {
  values.clear()
  const world = openPlainWorld(snapshot)
  const first = world.openReplica()
  first.fail(at, fault)
  const following = follow([first, world.openReplica()], { name, args: {}, key })
  const { text, told, strays } = await time.during(following, MAX_MS)
  // Later ones are looks, which go on for ever.
  const isReached = first.operations > at
  // The work of a tool without `task` cannot run again by itself.
  const mayBeLost = name === 'relayed' && ['killed-before', 'killed-after', 'paused'].includes(fault)
  if (!mayBeLost || !/The replica was lost/.test(text)) {
    const result = text.split(' ')
    t.match(result, [/^one-\d$/, /^two-\d$/, /^three-\d$/], `operation ${at}: ${text}`)
    const untrue = [...told].filter((value) => !result.includes(value))
    t.strictSame(untrue, [], `operation ${at}: what was told stays so`)
  }
  // A step that has begun when its process ends may be done again, and so may all of a call that is not kept.
  const isKept = strays === 0 || (name === 'kept' && key !== undefined)
  if (['lost', 'refused', 'away'].includes(fault) && isKept) {
    const counts = [...values.values()].map(({ length }) => length)
    t.strictSame(counts, [1, 1, 1], `operation ${at}: each was done once`)
  }
  await time.during(timers.pause(3 * LEASE_MS), MAX_MS)
  const places = await world.countPlaces()
  // A call that nobody knows of waits for its answer, up to its time limit.
  const unknown = key === undefined ? strays : 0
  t.ok(places <= unknown, `operation ${at}: ${places} calls count as unfinished, of ${unknown}`)
  await world.close()
  return isReached
}

for (const { name } of TOOLS) {
  for (const key of [undefined, 'key']) {
    for (const fault of FAULTS) {
      const how = key === undefined ? 'without a key' : 'with a key'
      t.test(`${fault}, at each operation of a call of the tool ${name} ${how}`, async (t) => {
        const time = new VirtualTime(t)
        const snapshot = await toSnapshot(t)
        let at = 0
        while (at < OPERATIONS && await runCall(t, time, snapshot, { name, key, at, fault })) at++
        t.ok(at > 10, `${at} faults`)
      })
    }
  }
}
