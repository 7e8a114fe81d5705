// A recording of a task, and what today's code of its tool makes of it.

import t, { type Test } from 'tap'
import { createService } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import type { ReplayOptions, ReplayResult } from '../../../src/testing.ts'
import { writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { TaskClient, toFiles } from '../../features/tasks/task-client.ts'
import { open } from './open.ts'

const TOKEN = 'a-token-of-more-than-32-characters'
const FORM = "elicit.form({ message: 'Go on?', schema: { type: 'object', properties: {} } })"
const OPTIONS = `task: 'required', inputSchema: { type: 'object', properties: { book: { type: 'string' } } }, 
  ttlMs: 86_400_000`

/** A recording, as JSON. */
interface Recorded { readonly [member: string]: unknown }

interface Driven {
  advance (ms: number): void
  /** Replaces the handler, and resolves when the service has loaded it. */
  deploy (run: string): Promise<void>
  /** Resolves when the task is in this phase. */
  reach (phase: string, steps?: number): Promise<void>
}

interface RecordOptions {
  readonly args?: object
  readonly options?: string
  /** The phase in which the task is recorded. */
  readonly phase?: string
  /** How many steps it has by then. */
  readonly steps?: number
  readonly hasValues?: boolean
  /** Answers the task, or lets time pass. */
  readonly drive?: (client: TaskClient, taskId: string, service: Driven) => Promise<unknown>
}

/** Runs a handler as a task, and records it over the admin address. */
async function record (
  t: Test, run: string,
  { args = {}, options = OPTIONS, phase = 'waiting', steps, hasValues = true, drive }: RecordOptions = {}
): Promise<Recorded> {
  const catalog = await writeCatalog(t, toFiles({ work: [options, run] }))
  let offset = 0
  const { app, admin, tasks, reload, catalog: served } = await createService(
    { catalog, ...QUIET, constants: { taskPatienceMs: 300 } },
    { guard: createLoadGuard(), build: { version: '1.2.3', node: '20' }, adminToken: TOKEN },
    { clock: { now: () => Date.now() + offset } }
  )
  if (admin === undefined) throw new Error('no admin app')
  t.teardown(async () => {
    await app.close()
    await admin.close()
  })
  const client = new TaskClient(app)
  const { taskId } = await client.call('work', args)
  const show = async (query = '') => {
    const url = `/tasks/${taskId}${query}`
    return (await admin.inject({ url, headers: { authorization: `Bearer ${TOKEN}` } })).json()
  }
  const driven: Driven = {
    advance (ms) {
      offset += ms
      tasks?.look()
    },
    async deploy (next) {
      const before = served.current
      for (const [path, text] of Object.entries(toFiles({ work: [options, next] }))) {
        await writeInPlace(catalog, path, text)
      }
      reload()
      await until(() => served.current !== before, 'the new handler')
    },
    async reach (phase, steps) {
      await until(async () => {
        const shown = await show()
        return shown.phase === phase && (steps ?? shown.steps) === shown.steps
      }, `a task that is ${phase}`)
    }
  }
  await drive?.(client, taskId, driven)
  await driven.reach(phase, steps)
  return await show(`?recording=1${hasValues ? '&values=1' : ''}`)
}

async function replay (
  t: Test, recording: Recorded, run: string, replayOptions?: ReplayOptions, options = OPTIONS
): Promise<ReplayResult> {
  const catalog = await open(t, toFiles({ work: [options, run] }))
  return await catalog.replay(recording, replayOptions)
}

const ORDER = `async ({ book }, ctx) => {
  const stock = await ctx.step('stock', () => ({ left: 3, book }))
  await ctx.step('note', () => {})
  const { ok } = await ctx.ask({ ok: ${FORM} })
  await ctx.step('pay', () => 'paid')
  await ctx.sleep(3_600_000)
  await ctx.step('send', () => 'sent')
  return book + stock.left + ok.action }`

const answerOk = async (client: TaskClient, taskId: string) => {
  await client.until(taskId, 'input_required')
  await client.ask('tasks/update', { taskId, inputResponses: { ok: { action: 'accept', content: {} } } })
}

t.test('has what the handler came to, in order', async (t) => {
  const recording = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk })
  t.match(recording, {
    recording: 1,
    trivet: '1.2.3',
    tool: 'work',
    fingerprint: /^.{43}$/,
    status: 'working',
    values: true,
    arguments: { book: 'moby' },
    journal: [
      { kind: 'step', key: 'stock', group: 1, outcome: 'value', value: { left: 3, book: 'moby' } },
      { kind: 'step', key: 'note', group: 2, outcome: 'nothing' },
      { kind: 'ask', key: 'ok', form: 'form', group: 3, outcome: 'value', value: { action: 'accept' } },
      { kind: 'step', key: 'pay', group: 4, outcome: 'value', value: 'paid' },
      { kind: 'sleep', key: '0', form: '3600000 ms', group: 5, outcome: 'open' }
    ]
  })
  t.strictSame(await replay(t, recording, ORDER), { fits: true, reached: 5 })
})

const SAME: ReadonlyArray<readonly [claim: string, run: string]> = [
  ['the same code', ORDER],
  ['more code after the end', ORDER.replace('return book', "await ctx.step('thank', () => {}); return book")],
  ['other work within the steps', ORDER.replace("'paid'", "{ throw new Error('is not called') }")]
]
const OTHER: ReadonlyArray<readonly [claim: string, run: string, expected: string, came: string]> = [
  ['a step less', ORDER.replace("await ctx.step('note', () => {})", ''), 'step "note"', 'question "ok"'],
  [
    'a new step', ORDER.replace('const { ok }', "await ctx.once('more', () => 1); const { ok }"),
    'question "ok"', 'step "more"'
  ],
  ['another key', ORDER.replace("'pay'", "'charge'"), 'step "pay"', 'step "charge"'],
  [
    'another length of a sleep', ORDER.replace('3_600_000', '7_200_000'),
    'sleep "0" (3600000 ms)', 'sleep "0" (7200000 ms)'
  ],
  [
    'a link in place of a form', ORDER.replace(FORM, "elicit.url({ message: 'Pay', url: 'https://pay.example' })"),
    'question "ok" (form)', 'question "ok" (url)'
  ],
  ['a key for a sleep', ORDER.replace('3_600_000', "60_000, { key: 'dry' }"), 'sleep "0"', 'sleep "dry"'],
  ['an early end', ORDER.replace('const { ok }', 'return 1; const { ok }'), 'question "ok"', 'its end'],
  ['other steps in the other order', `async (_, ctx) => {
    await ctx.step('note', () => {}); await ctx.step('stock', () => 1) }`, 'step "stock"', 'step "note"']
]

t.test('tells whether other code comes to the same', async (t) => {
  const recording = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk })
  for (const [claim, run] of SAME) {
    t.strictSame(await replay(t, recording, run), { fits: true, reached: 5 }, claim)
  }
  for (const [claim, run, expected, came] of OTHER) {
    const difference = { file: 'tools/work.ts', expected, came }
    t.match(await replay(t, recording, run), { fits: false, difference }, claim)
  }
})

t.test('the service says the same of the task when it is deployed', async (t) => {
  for (const [claim, run] of [...SAME.slice(1), ...OTHER]) {
    const isSame = SAME.some(([same]) => same === claim)
    const drive: RecordOptions['drive'] = async (client, taskId, { reach, deploy, advance }) => {
      await answerOk(client, taskId)
      await reach('waiting')
      await deploy(run)
      advance(3_600_000)
      await client.until(taskId, isSame ? 'completed' : 'failed')
      const { error } = await client.get(taskId)
      t.match(error, isSame ? undefined : { message: /not do what it did before/ }, claim)
    }
    await record(t, ORDER, { args: { book: 'moby' }, phase: 'over', drive })
  }
})

t.test('an error where the task went on is a difference, and a later one is told', async (t) => {
  const recording = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk })
  const throwing = ORDER.replace('const { ok }', "if (book) throw new ToolError('no more'); const { ok }")
  t.match(await replay(t, recording, throwing), {
    fits: false,
    reached: 2,
    difference: { expected: 'question "ok"', came: 'an error' },
    error: { message: 'no more' }
  })
  const ended = await record(t, "async (_, ctx) => await ctx.step('a', () => 1)", { phase: 'over' })
  t.match(ended, { status: 'completed', journal: [{ key: 'a', value: 1 }] })
  const late = "async (_, ctx) => { await ctx.step('a', () => 1); throw new Error('late') }"
  t.match(await replay(t, ended, late), { fits: true, reached: 1, error: { message: 'late' } })
})

t.test('ends where the recording ends: no step is done, nobody is asked and nothing sleeps', async (t) => {
  const recording = await record(t, 'async (_, ctx) => await ctx.sleep(3_600_000)')
  for (const more of [
    "await ctx.step('b', () => { globalThis.replayed = true })",
    'await ctx.sleep(900)',
    'await ctx.sleep(90_000)',
    `await ctx.ask({ ok: ${FORM} })`
  ]) {
    const step = { kind: 'step', key: 'a', group: 1, outcome: 'value', value: 1 }
    const run = `async (_, ctx) => { await ctx.step('a', () => 2); ${more}; globalThis.replayed = true }`
    t.strictSame(await replay(t, { ...recording, journal: [step] }, run), { fits: true, reached: 1 }, more)
  }
  t.notOk('replayed' in globalThis)
})

t.test('a handler that catches the end does not go round for ever', async (t) => {
  const recording = await record(t, 'async (_, ctx) => { await ctx.sleep(3_600_000) }')
  const run = `async (_, ctx) => { for (let n = 0;; n++) {
    try { await ctx.sleep(3_600_000) } catch { await ctx.step('n' + n, () => {}).catch(() => {}) } } }`
  t.strictSame(await replay(t, recording, run), { fits: true, reached: 1 })
})

t.test('a failure that was caught, and a sleep that is over', async (t) => {
  const run = `async (_, ctx) => {
    const work = ctx.step('try', () => { throw new ToolError('sold out') })
    const why = await work.catch(({ message }) => message)
    await ctx.sleep(3_600_000)
    if (why === 'sold out') await ctx.step('tell', () => {})
    await ctx.sleep(60_000) }`
  const drive: RecordOptions['drive'] = async (_client, _taskId, { reach, advance }) => {
    await reach('waiting')
    advance(3_600_000)
  }
  const recording = await record(t, run, { drive, steps: 2 })
  t.match(recording.journal, [
    { key: 'try', outcome: 'failure', failure: { name: 'ToolError', message: 'sold out', isTool: true } },
    { kind: 'sleep', key: '0', outcome: 'nothing' },
    { key: 'tell', outcome: 'nothing' },
    { kind: 'sleep', key: '1', outcome: 'open' }
  ])
  t.strictSame(await replay(t, recording, run), { fits: true, reached: 4 })
  const other = run.replace("=== 'sold out'", "=== 'closed'")
  t.match(await replay(t, recording, other), { difference: { expected: 'step "tell"', came: 'sleep "1"' } })
})

const BESIDE = `async (_, ctx) => {
  await Promise.all([
    ctx.step('a', () => 1), ctx.step('b', () => 2).then(async () => await ctx.step('c', () => 3))
  ])
  await ctx.sleep(3_600_000) }`

t.test('what ran beside each other may come in any order', async (t) => {
  const recording = await record(t, BESIDE)
  t.strictSame(await replay(t, recording, BESIDE), { fits: true, reached: 4 })
  const inTurn = `async (_, ctx) => {
    for (const key of ['b', 'a', 'c']) await ctx.step(key, () => 1)
    await ctx.sleep(3_600_000) }`
  t.strictSame(await replay(t, recording, inTurn), { fits: true, reached: 4 })
  const without = BESIDE.replace(".then(async () => await ctx.step('c', () => 3))", '')
  t.match(await replay(t, recording, without), { difference: { expected: 'step "c"', came: 'sleep "0"' } })
})

t.test('behind a step that has not ended nothing is known; other branches go on', async (t) => {
  const recording = await record(t, BESIDE)
  const journal = (recording.journal as Recorded[]).slice(0, 3).map((entry) => (
    entry.key === 'a' ? { ...entry, outcome: 'open', value: undefined } : entry
  ))
  t.strictSame(await replay(t, { ...recording, journal }, BESIDE), { fits: true, reached: 3 })
  const inTurn = "async (_, ctx) => { for (const key of ['a', 'b', 'c']) await ctx.step(key, () => 1) }"
  t.strictSame(
    await replay(t, { ...recording, journal }, inTurn), { fits: undefined, lacks: 'step "a"', reached: 1 }
  )
})

t.test('a step that nobody waits for does not end the process', async (t) => {
  const recording = await record(t, 'async (_, ctx) => { await ctx.sleep(3_600_000) }')
  const journal = ['a', 'b'].map((key) => ({ kind: 'step', key, group: 1, isBeside: true, outcome: 'open' }))
  const run = `async (_, ctx) => {
    const first = ctx.step('a', () => 1)
    await ctx.step('b', () => 2)
    await first }`
  const rejections: unknown[] = []
  const note = (reason: unknown) => { rejections.push(reason) }
  process.on('unhandledRejection', note)
  t.strictSame(await replay(t, { ...recording, journal }, run), { fits: true, reached: 2 })
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  t.strictSame(rejections, [])
})

t.test('an open question ends the replay, and so does an answer that does not fit any more', async (t) => {
  const asked = await record(t, ORDER, { args: { book: 'moby' }, phase: 'asking' })
  t.match(asked.journal, [{}, {}, { kind: 'ask', key: 'ok', outcome: 'open' }])
  t.strictSame(await replay(t, asked, ORDER), { fits: true, reached: 3 })
  const answered = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk })
  const stricter = ORDER.replace('properties: {}', "properties: { n: { type: 'number' } }, required: ['n']")
  t.strictSame(await replay(t, answered, stricter), { fits: undefined, lacks: 'question "ok"', reached: 3 })
})

t.test('without values: what is passed on is fine, and what is read is lacking', async (t) => {
  const run = `async (args, ctx) => {
    const one = await ctx.step('one', () => ({ id: 'canary-result' }))
    await ctx.step('two', () => one.id)
    const { ok } = await ctx.ask({ ok: ${FORM} })
    await ctx.step('fail', () => { throw new Error('canary-message') }).catch(() => {})
    await ctx.sleep(3_600_000) }`
  const args = { book: 'canary-argument' }
  const recording = await record(t, run, { args, drive: answerOk, hasValues: false })
  t.match(recording, { values: false, journal: [{ outcome: 'value' }, {}, { outcome: 'value' }, {}, {}] })
  t.notMatch(JSON.stringify(recording), /canary|accept/)
  const whole = await record(t, run, { args, drive: answerOk })
  t.match(JSON.stringify(whole), /canary-argument.*canary-result.*accept.*canary-message/)
  t.strictSame(await replay(t, recording, run), { fits: undefined, reached: 0, lacks: 'arguments' })
  t.strictSame(await replay(t, recording, run, { args }), { fits: true, reached: 5 })
  for (const [read, lacks] of [
    ['String(one)', 'step "one"'], ['one.id', 'step "one"'], ["'id' in one", 'step "one"'],
    ['Object.keys(one)', 'step "one"'], ['JSON.stringify([one])', 'step "one"'],
    ['ok.action', 'question "ok"']
  ] as const) {
    const reading = run.replace('await ctx.sleep', `if (${read} === 0) return 1; await ctx.sleep`)
    t.strictSame(await replay(t, recording, reading, { args }), { fits: undefined, lacks, reached: 4 }, read)
  }
  const caught = run.replace('.catch(() => {})', '.catch(({ message }) => message)')
  t.match(await replay(t, recording, caught, { args }), { fits: undefined, lacks: 'step "fail"' })
  const uncaught = run.replace('.catch(() => {})', '')
  t.match(await replay(t, recording, uncaught, { args }), {
    fits: false, difference: { came: 'an error' }, error: { message: 'not in the recording' }
  })
})

t.test('a caller is that of the recording, and has the scopes of the tool', async (t) => {
  const run = `async (_, ctx) => {
    await ctx.step('for ' + ctx.principal.subject, () => {})
    if (ctx.client.capabilities.sampling === undefined) await ctx.sleep(3_600_000) }`
  const recording = await record(t, run)
  const scoped = `${OPTIONS}, scopes: ['books']`
  t.strictSame(await replay(t, recording, run, {}, scoped), { fits: true, reached: 2 })
  t.match(await replay(t, recording, run, { principal: { subject: 'ada' } }, scoped), {
    difference: { expected: 'step "for undefined"', came: 'step "for ada"' }
  })
  t.strictSame(await replay(t, recording, run, { client: { capabilities: { sampling: {} } } }, scoped), {
    fits: false, reached: 1, difference: { file: 'tools/work.ts', expected: 'sleep "0"', came: 'its end' }
  })
})

t.test('a replay leaves the recording as it is', async (t) => {
  const run = "async (args, ctx) => { args.book += '!'; (await ctx.step('a', () => ({}))).more = 1 }"
  const options = OPTIONS.replace("type: 'string'", "type: 'string', default: 'moby'")
  const journal = [{ kind: 'step', key: 'a', group: 1, outcome: 'value', value: {} }]
  const recording = { ...await record(t, run, { options, phase: 'over' }), journal }
  const before = structuredClone(recording)
  t.strictSame(await replay(t, recording, run, {}, options), { fits: true, reached: 1 })
  t.strictSame(recording, before)
})

t.test('what keeps a task from going on is a difference', async (t) => {
  const recording = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk })
  const number = OPTIONS.replace("type: 'string'", "type: 'number'")
  t.match(await replay(t, recording, ORDER, {}, number), {
    fits: false, difference: { expected: 'arguments that fit the inputSchema', came: /book/ }
  })
  const failing = `${OPTIONS}, onDeploy: 'fail'`
  t.match(await replay(t, recording, ORDER, {}, failing), { difference: { came: /onDeploy: 'fail'/ } })
  t.match(await replay(t, { ...recording, status: 'completed' }, ORDER, {}, failing), { fits: true })
  const known = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk, options: failing })
  t.match(await replay(t, known, ORDER, {}, failing), { fits: true })
  t.match(await replay(t, { ...recording, undo: 'due' }, ORDER), { difference: { expected: 'undo' } })
})

t.test('undo is run against its own journal, with the results of the task', async (t) => {
  const run = "async (_, ctx) => { await ctx.step('order', () => 'order 7'); await ctx.sleep(3_600_000) }"
  const undo = (key: string) => `${OPTIONS}, undo: async (_, ctx) => {
    const order = ctx.resultOf('order')
    if (order === undefined) return
    await ctx.step(${key}, () => order)
    await ctx.sleep(60_000) }`
  const drive: RecordOptions['drive'] = async (client, taskId) => await client.ask('tasks/cancel', { taskId })
  const options = { options: undo('order'), phase: 'over', steps: 1, drive }
  const recording = await record(t, run, options)
  t.match(recording, { status: 'cancelled', undo: 'due' })
  t.match(recording.undoJournal, [{ key: 'order 7' }, { kind: 'sleep', outcome: 'open' }])
  t.strictSame(await replay(t, recording, run, {}, undo('order')), { fits: true, reached: 2 })
  t.match(await replay(t, recording, run, {}, undo("'other'")), { difference: { came: 'step "other"' } })
  const journal = [{ kind: 'step', key: 'order', group: 1, outcome: 'value' }]
  const redacted = { ...recording, values: false, journal }
  t.match(await replay(t, redacted, run, { args: {} }, undo("'' + order")), { lacks: 'step "order"' })
})

t.test('a replay counts as a call, and never does a step, whatever the document says', async (t) => {
  const run = "async (_, ctx) => { await ctx.step('a', () => { globalThis.replayed = true }) }"
  const catalog = await open(t, toFiles({ work: [`${OPTIONS}, limits: { calls: '1/1m' }`, run] }))
  const journal = [{ kind: 'step', key: 'a', group: 1, outcome: 'failure' }]
  const recording = { recording: 1, trivet: '1.0.0', tool: 'work', status: 'working', values: true, journal }
  t.strictSame(await catalog.replay(recording), { fits: undefined, lacks: 'step "a"', reached: 1 })
  t.notOk('replayed' in globalThis)
  await t.rejects(catalog.replay(recording), { message: /^The limit is reached: one caller may begin 1 call/ })
})

t.test('a file that is no recording, and a tool that is gone, are told', async (t) => {
  const catalog = await open(t, toFiles({ work: [OPTIONS, ORDER] }))
  const whole = { recording: 1, trivet: '1.0.0', tool: 'work', status: 'working', values: true, journal: [] }
  t.strictSame(await catalog.replay(whole), { fits: true, reached: 0 })
  const name = 'RecordingError'
  for (const [document, message] of [
    [undefined, /no recording of a task: pass the object/],
    ['{}', /pass the object/],
    [{ taskId: 'task_1', status: 'working' }, /pass the object/],
    [{ ...whole, recording: 2 }, /form 2, of a newer release of Trivet. This release reads form 1/],
    [{ ...whole, journal: [{ kind: 'work', key: 'a', outcome: 'value' }] }, /journal\b.*kind/],
    [{ ...whole, journal: undefined }, /journal/],
    [{ ...whole, tool: 'gone' }, /The catalog has no tool "gone"/]
  ] as const) {
    await t.rejects(catalog.replay(document), { name, message })
  }
})

t.test('the undo that has failed is replayed as a retry runs it, and must not ask', async (t) => {
  const undo = (body: string) => `${OPTIONS}, async undo (_, ctx) { ${body} }`
  const run = "async (_, ctx) => { await ctx.step('order', () => 1); throw new Error('no') }"
  const failing = "await ctx.step('one', () => 1); await ctx.step('two', () => { throw new Error('shut') })"
  const recording = await record(t, run, { options: undo(failing), phase: 'over', steps: 2 })
  t.equal(recording.undo, 'failed')
  for (const [body, expected] of [
    ["await ctx.step('check', () => 0); await ctx.step('two', () => 2)", { fits: true }],
    [`await ctx.ask({ ok: ${FORM} })`, { fits: false, difference: { came: 'question "ok"' } }]
  ] as const) {
    t.match(await replay(t, recording, run, {}, undo(body)), expected, body)
  }
})

t.test('a step or a sleep that nobody awaits leaves no rejection behind', async (t) => {
  const run = `async (_, ctx) => {
    ctx.step('a', () => 1); ctx.sleep(3_600_000); await ctx.step('b', () => 2) }`
  const rejections: unknown[] = []
  const note = (error: unknown) => rejections.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => { process.off('unhandledRejection', note) })
  const recording = await record(t, 'async (_, ctx) => { await ctx.sleep(3_600_000) }', { steps: 0 })
  await replay(t, { ...recording, journal: [] }, run)
  await new Promise(setImmediate)
  t.strictSame(rejections, [])
})
