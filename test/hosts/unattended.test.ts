// Hosts that declare elicitation, and have nobody whom they could ask: they cancel a question at once.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../src/app/app.ts'
import { elicit } from '../../src/platform/author/input-request.ts'
import type { InputRound } from '../../src/request/questions/input-round.ts'
import { buildApp, listen } from '../helpers/app.ts'
import { TASKS } from '../features/tasks/task-client.ts'
import { send, type Message } from '../helpers/request.ts'
import { openSession, type SessionClient, type SessionReply } from '../helpers/session.ts'
import { createRounds, runRound } from '../request/questions/rounds.ts'
import { callOf, textOf } from './plain-client.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, elicit } from 'trivet'
    const define = (name, run, options = {}) => defineTool({ name, description: 'A tool.', ...options, run })
    const schema = { type: 'object', properties: { size: { type: 'string', enum: ['S', 'L'] } } }
    const form = elicit.form({ message: 'Which?', schema })
    const link = elicit.url({ message: 'Pay', url: 'https://pay.example/1' })
    const ask = async (_, ctx) => {
      const { size } = await ctx.ask({ size: form })
      return size.action + ' ' + (size.content?.size ?? 'nothing')
    }
    globalThis.unattendedOrders = 0
    const two = async (_, ctx) => {
      const { size } = await ctx.ask({ size: form })
      const order = await ctx.once('order', () => ++globalThis.unattendedOrders)
      const { pay } = await ctx.ask({ pay: link })
      return [size.action, order, pay.action].join(' ')
    }
    const both = async (_, ctx) => {
      const { size, pay } = await ctx.ask({ size: form, pay: link })
      return size.action + ' ' + pay.action
    }
    const afterStep = (run) => async (args, ctx) => {
      await ctx.step('begin', () => 1)
      return await run(args, ctx)
    }
    export default [
      define('asks', ask, { relayQuestions: true }),
      define('two', two, { relayQuestions: true }),
      define('both', both, { relayQuestions: true }),
      define('links', ask, { relayQuestions: 'links' }),
      define('silent', ask, { relayQuestions: false }),
      ...[['task', (run) => run], ['step', afterStep]].flatMap(([prefix, toRun]) => [
        define(prefix + '_asks', toRun(ask), { relayQuestions: true, task: 'allowed' }),
        define(prefix + '_two', toRun(two), { relayQuestions: true, task: 'allowed' }),
        define(prefix + '_both', toRun(both), { relayQuestions: true, task: 'allowed' }),
        define(prefix + '_links', toRun(ask), { relayQuestions: 'links', task: 'allowed' }),
        define(prefix + '_silent', toRun(ask), { task: 'allowed' })
      ])
    ]`
}
const FORM = elicit.form({
  message: 'Which?', schema: { type: 'object', properties: { size: { type: 'string' } } }
})
const CANCEL = { action: 'cancel' }
const DECLINE = { action: 'decline' }
const ACCEPT = { action: 'accept', content: { size: 'S' } }
const SIZE = { size: { size: 'L' } }
const CAPABILITIES = { elicitation: { form: {}, url: {} } }

interface Host {
  /** Calls a tool, and answers each question as told: at once, or after some time. */
  call (
    name: string, answers: { readonly [key: string]: object }, afterMs?: number, headers?: object
  ): Promise<Message>
  continue (call: string, args: object): Promise<Message>
}

/** A host of today, in the process. It gives up after five rounds. */
async function openModern (
  t: Test, options: AppOptions = {}, capabilities: object = CAPABILITIES
): Promise<Host> {
  const app = await buildApp(t, FILES, options)
  const request = async (params: { readonly [key: string]: unknown }, headers: object = {}) => {
    const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
    const { response } = await send(app, { method: 'tools/call', params, meta, headers: { ...headers } })
    return response.result ?? response.error
  }
  return {
    async call (name, answers, afterMs = 0, headers = {}) {
      let result = await request({ name }, headers)
      for (let round = 0; round < 5 && result.resultType === 'input_required'; round++) {
        await pause(afterMs)
        const { inputRequests, requestState } = result
        const keys = Object.keys(inputRequests)
        const inputResponses = Object.fromEntries(keys.map((key) => [key, answers[key]]))
        result = await request({ name, inputResponses, requestState }, headers)
      }
      return result
    },
    continue: async (call, args) => await request({ name: 'continue_call', arguments: { call, ...args } })
  }
}

async function openWithTasks (t: Test, options: AppOptions = {}): Promise<Host> {
  return await openModern(t, options, { ...CAPABILITIES, ...TASKS })
}

/** A host with a session. */
async function openLegacy (t: Test, options: AppOptions = {}): Promise<Host> {
  const session = await openSession(t, await listen(await buildApp(t, FILES, options)), {
    capabilities: CAPABILITIES
  })
  const answerAll = async (
    reply: SessionReply, answers: { readonly [key: string]: object }, afterMs: number
  ) => {
    for (;;) {
      const message = await reply.next()
      if (message.method === undefined) return message.result
      if (message.method !== 'elicitation/create') continue
      await pause(afterMs)
      await session.answer(message.id, answers[message.params.mode === 'url' ? 'pay' : 'size'])
    }
  }
  return {
    async call (name, answers, afterMs = 0, headers = undefined) {
      const caller = headers === undefined ? session : session.with({ headers: { ...headers } })
      return await answerAll(await caller.startCall(name), answers, afterMs)
    },
    continue: async (call, args) => await continueIn(session, call, args)
  }
}

async function continueIn (session: SessionClient, call: string, args: object): Promise<Message> {
  const { messages, result } = await session.call('continue_call', { call, ...args })
  if (messages.length > 1) throw new Error(`the client was asked: ${JSON.stringify(messages)}`)
  return result
}

const HOSTS = [
  ['today', openModern], ['today that takes tasks', openWithTasks], ['earlier revisions', openLegacy]
] as const
/** Tools that end with their answer, tools with `task`, and tools whose call is kept before they ask. */
const PREFIXES = ['', 'task_', 'step_']

for (const [era, open] of HOSTS) {
  for (const prefix of PREFIXES) {
    t.test(`with a host of ${era}, and the tool ${prefix}asks`, async (t) => {
      const host = await open(t, { constants: { readingMs: 60_000 } })

      t.test('a form that is cancelled at once goes to the model, once (224, 235)', async (t) => {
        const asked = await host.call(`${prefix}asks`, { size: CANCEL })
        t.match(textOf(asked), `${prefix}asks asks the user. Ask the user yourself`)
        t.equal(textOf(await host.continue(callOf(asked), { answers: SIZE })), 'accept L')
        const declined = await host.call(`${prefix}asks`, { size: CANCEL })
        t.equal(textOf(await host.continue(callOf(declined), { decline: true })), 'decline nothing')
      })

      t.test('its later questions go to the model too, and its work is done once (211)', async (t) => {
        Reflect.set(globalThis, 'unattendedOrders', 0)
        const asked = await host.call(`${prefix}two`, { size: CANCEL, pay: ACCEPT })
        const then = await host.continue(callOf(asked), { answers: SIZE })
        t.match(textOf(then), 'Show the user this link')
        t.equal(textOf(await host.continue(callOf(then), { answers: { pay: {} } })), 'accept 1 accept')
      })

      t.test('an answer beside it is kept (211)', async (t) => {
        const asked = await host.call(`${prefix}both`, { size: CANCEL, pay: { action: 'accept' } })
        t.notMatch(textOf(asked), 'https://pay.example')
        t.equal(textOf(await host.continue(callOf(asked), { answers: SIZE })), 'accept accept')
      })

      t.test('a decline and an answer stay what they are, however quick (224)', async (t) => {
        t.equal(textOf(await host.call(`${prefix}asks`, { size: DECLINE })), 'decline nothing')
        t.equal(textOf(await host.call(`${prefix}asks`, { size: ACCEPT })), 'accept S')
      })

      t.test('a cancel after an answer is heard: somebody is there (224)', async (t) => {
        t.match(textOf(await host.call(`${prefix}two`, { size: ACCEPT, pay: CANCEL })), /^accept \d+ cancel$/)
      })

      t.test('a person who cancels is heard (224)', async (t) => {
        const slower = await open(t, { constants: { readingMs: 100 } })
        t.equal(textOf(await slower.call(`${prefix}asks`, { size: CANCEL }, 300)), 'cancel nothing')
      })

      t.test('a tool that relays no forms gets the cancel (224)', async (t) => {
        for (const name of ['links', 'silent']) {
          t.equal(textOf(await host.call(prefix + name, { size: CANCEL })), 'cancel nothing', name)
        }
      })
    })
  }
}

t.test('a repetition of the call is told the question too, and begins nothing', async (t) => {
  for (const [era, open] of HOSTS) {
    for (const prefix of PREFIXES) {
      Reflect.set(globalThis, 'unattendedOrders', 0)
      const host = await open(t, { constants: { readingMs: 60_000 } })
      const key = { 'idempotency-key': `${era} ${prefix}` }
      const first = await host.call(`${prefix}two`, { size: CANCEL, pay: ACCEPT }, 0, key)
      const second = await host.call(`${prefix}two`, { size: CANCEL, pay: ACCEPT }, 0, key)
      const [call, again] = [first, second].map((asked) => callOf(asked).split('.')[0])
      t.equal(again, call, `${era}, ${prefix}`)
      const then = await host.continue(callOf(second), { answers: SIZE })
      t.equal(textOf(await host.continue(callOf(then), { answers: { pay: {} } })), 'accept 1 accept')
    }
  }
})

t.test('the model cancels a call that it was asked to continue', async (t) => {
  for (const [, open] of HOSTS) {
    for (const prefix of PREFIXES) {
      const host = await open(t, { constants: { readingMs: 60_000 } })
      const asked = await host.call(`${prefix}asks`, { size: CANCEL })
      t.match(textOf(await host.continue(callOf(asked), { cancel: true })), 'was cancelled')
    }
  }
})

t.test('a question that nobody has seen does not count as an unfinished task', async (t) => {
  for (const [era, open] of HOSTS) {
    for (const prefix of PREFIXES) {
      const host = await open(t, { constants: { readingMs: 60_000 }, maxTasksPerCaller: 2 })
      const calls: string[] = []
      for (let times = 0; times < 6; times++) {
        calls.push(callOf(await host.call(`${prefix}asks`, { size: CANCEL })))
      }
      for (const call of calls) {
        t.equal(textOf(await host.continue(call, { answers: SIZE })), 'accept L', `${era}, ${prefix}`)
      }
    }
  }
})

t.test('a replica that has not asked takes nobody for absent, whatever the clocks (224)', async (t) => {
  const taken: number[] = []
  const relay = {
    capabilities: { elicitation: { form: {} } },
    takesOver: true,
    takeOver (_: unknown, __: unknown, elapsedMs: number) {
      taken.push(elapsedMs)
      return false
    },
    keep: async () => ''
  }
  const handler = async (round: InputRound) => await round.ask({ size: FORM })
  const now = () => Date.now() - 3000
  const { pending } = await runRound(createRounds(), handler, { relay })
  const other = { now, replica: 'another' }
  for (const [options, isMeasured] of [[{}, true], [{ now }, true], [other, false]] as const) {
    taken.length = 0
    const { value } = await runRound(createRounds(options), handler, {
      relay, inputResponses: { size: CANCEL }, requestState: pending?.requestState
    })
    t.strictSame(value, { size: CANCEL })
    const [elapsedMs = -1] = taken
    t.ok(isMeasured ? elapsedMs >= 0 && elapsedMs < 10_000 : elapsedMs === Infinity, `${elapsedMs} ms`)
  }
  // A state that an earlier release has sealed, or none, says no time.
  taken.length = 0
  await runRound(createRounds(), handler, { relay, inputResponses: { size: CANCEL } })
  t.strictSame(taken, [Infinity])
})

t.test('nobody reads in no time (224)', async (t) => {
  for (const open of [openModern, openLegacy]) {
    const host = await open(t, { constants: { readingMs: 0 } })
    t.equal(textOf(await host.call('asks', { size: CANCEL })), 'cancel nothing')
  }
})
