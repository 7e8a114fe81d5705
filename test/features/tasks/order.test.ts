// A task goes on only if its handler does what it did before. The handlers of these tests do something else
// in their second run, as after a release of the catalog.

import t, { type Test } from 'tap'
import { timers } from '../../../src/base/time.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { serveInVirtualTime, TaskClient } from './task-client.ts'

/** How often each handler ran, and what its steps did, in this process. */
const notes = { runs: 0, steps: [] as string[], polls: 0, isOver: false }
Object.assign(globalThis, { orderNotes: notes, orderPause: timers.pause })

t.beforeEach(() => { Object.assign(notes, { runs: 0, steps: [] }) })

const FORM = "elicit.form({ message: 'Go on?', schema: { type: 'object', properties: {} } })"

/** Serves one tool. Its body has `run`, the number of its run, `did`, which notes a step, and `pause`. */
async function serveTask (t: Test, body: string) {
  const log = createReadableLog('info')
  const { app, time } = await serveInVirtualTime(t, {
    changes: ["task: 'required', onReplicaLoss: 'rerun'", `async (_, ctx) => {
      const notes = globalThis.orderNotes
      const pause = globalThis.orderPause
      const run = ++notes.runs
      const did = (key) => () => { notes.steps.push(key); return key }
      ${body}
    }`]
  }, { logger: log.logger, constants: { taskGraceMs: 50, taskPatienceMs: 300 } })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('changes')
  return { log, client, taskId, time }
}

const CHANGES: ReadonlyArray<readonly [name: string, body: string, difference: RegExp]> = [
  [
    'a step before the sleep that it slept in',
    `await ctx.once('one', did('one'))
     if (run > 1) await ctx.once('new', did('new'))
     await ctx.sleep(1000)`,
    /tools\/changes\.ts: The handler came to step "new" where it came to sleep "0" in an earlier run/
  ],
  [
    'an hour of sleep before the one that it slept in',
    `if (run > 1) await ctx.sleep(3_600_000, { key: 'hour' })
     await ctx.sleep(1000, { key: 'second' })
     await ctx.once('late', did('late'))`,
    /came to sleep "hour" where it came to sleep "second"/
  ],
  [
    'an hour in the place of a second, both without a key',
    `await ctx.sleep(run > 1 ? 3_600_000 : 1000)
     await ctx.once('late', did('late'))`,
    /came to sleep "0" \(3600000 ms\) where it came to sleep "0" \(1000 ms\)/
  ],
  [
    'no long sleep where it slept',
    `await ctx.sleep(run > 1 ? 10 : 1000)
     await ctx.once('late', did('late'))`,
    /came to sleep "0" where it came to sleep "0" \(1000 ms\)/
  ],
  [
    'a link in the place of a form',
    `const link = elicit.url({ message: 'Pay', url: 'https://pay.example' })
     await Promise.all([ctx.ask({ go: run > 1 ? link : ${FORM} }), ctx.sleep(1000)])`,
    /came to question "go" \(url\) where it came to question "go" \(form\)/
  ],
  [
    'another name of a step',
    `await ctx.step(run > 1 ? 'two' : 'one', did('a step'))
     await ctx.sleep(1000)`,
    /came to step "two" where it came to step "one"/
  ],
  [
    'a result without its steps',
    `if (run > 1) return 'nothing to do'
     await ctx.once('one', did('one'))
     await ctx.sleep(1000)`,
    /came to its end where it came to step "one"/
  ]
]

for (const [name, body, difference] of CHANGES) {
  t.test(`${name} fails the task, and the log says where`, async (t) => {
    const { log, client, taskId, time } = await serveTask(t, body)
    const { error } = await client.until(taskId, 'failed')
    t.match(error, { code: -32603, message: /its tool does not do what it did before/ })
    t.notMatch(JSON.stringify(error), /changes|came to/, 'the client learns no cause')
    await time.until(() => difference.test(log.text().replaceAll('\\"', '"')), 'the line in the log')
    t.notOk(notes.steps.includes('new') || notes.steps.includes('late'), 'nothing new was done')
  })
}

t.test('a handler that catches the difference goes on in vain', async (t) => {
  const { client, taskId } = await serveTask(t, `
    await ctx.once(run > 1 ? 'two' : 'one', did('a step')).catch(() => {})
    await ctx.sleep(1000).catch(() => {})
    if (run > 1) await ctx.once('three', did('three')).catch(() => {})
    return 'fine'`)
  t.match(await client.until(taskId, 'failed'), { error: { message: /does not do what it did before/ } })
  t.strictSame(notes.steps, ['a step'])
})

t.test('a tool error is a result, whatever the handler would have come to', async (t) => {
  const { client, taskId } = await serveTask(t, `
    if (run > 1) throw new ToolError('The desk is closed.')
    await ctx.once('one', did('one'))
    await ctx.sleep(1000)`)
  t.match(await client.until(taskId, 'completed'), {
    result: { isError: true, content: [{ text: 'The desk is closed.' }] }
  })
})

t.test('a step that has failed fails again in the next run, and is not done again', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const seen = []
    const fail = (error) => () => { notes.steps.push('tried'); if (run === 1) throw error; return 'late luck' }
    const note = (error) => seen.push([error.name, error.message, error instanceof ToolError].join())
    await ctx.once('first', fail(new RangeError('too far'))).catch(note)
    await ctx.step('second', { retries: 1, backoffMs: 1 }, fail(new TypeError('odd'))).catch(note)
    await ctx.once('third', fail(new ToolError('Sold out.'))).catch(note)
    await ctx.once('other way', did('other way'))
    await ctx.sleep(1000)
    return seen.join(';')`)
  t.match(await client.until(taskId, 'completed'), {
    result: { content: [{ text: 'RangeError,too far,false;TypeError,odd,false;ToolError,Sold out.,true' }] }
  })
  t.strictSame(notes.steps, ['tried', 'tried', 'tried', 'tried', 'other way'])
})

t.test('a handler tries a step again after its failure, and each run sees the same attempts', async (t) => {
  const { client, taskId } = await serveTask(t, `
    let attempts = 0
    for (;;) {
      attempts++
      try {
        await ctx.once('desk', () => {
          did('tried')()
          if (notes.steps.length < 3) throw new Error('shut')
          return 'open'
        })
        break
      } catch {
        await ctx.sleep(10)
      }
    }
    await ctx.sleep(1000)
    return attempts + ' attempts in run ' + run`)
  t.match(await client.until(taskId, 'completed'), { result: { content: [{ text: '3 attempts in run 2' }] } })
  t.strictSame(notes.steps, ['tried', 'tried', 'tried'])
})

t.test('branches go on in any order, and what comes after them too', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const branch = async (name, ms) => {
      await ctx.once(name + 1, did(name + 1))
      await pause(ms)
      await ctx.once(name + 2, did(name + 2))
    }
    await Promise.all(run === 1 ? [branch('a', 20), branch('b', 150)] : [branch('b', 20), branch('a', 150)])
    await ctx.once('after', did('after'))
    await ctx.sleep(1000)
    return 'fine'`)
  t.match(await client.until(taskId, 'completed'), { result: { content: [{ text: 'fine' }] } })
  t.strictSame(notes.steps, ['a1', 'b1', 'a2', 'b2', 'after'])
})

t.test('branches whose steps do not overlap go on in any order', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const branch = async (name, ms) => {
      await pause(ms)
      return await ctx.step(name, did(name))
    }
    await Promise.all(run === 1 ? [branch('a', 1), branch('b', 40)] : [branch('a', 40), branch('b', 1)])
    await ctx.sleep(1000)
    return 'fine'`)
  t.match(await client.until(taskId, 'completed'), { result: { content: [{ text: 'fine' }] } })
  t.strictSame(notes.steps, ['a', 'b'])
})

t.test('what a step does within is not part of the order', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const outer = await ctx.step('outer', async () => await ctx.step('inner', did('inner')) + '!')
    await ctx.step('confirm', async () => { await ctx.ask({ go: ${FORM} }); return did('confirmed')() })
    await ctx.sleep(1000)
    return outer`)
  await client.until(taskId, 'input_required')
  await client.update(taskId, { go: { action: 'accept', content: {} } })
  t.match(await client.until(taskId, 'completed'), { result: { content: [{ text: 'inner!' }] } })
  t.strictSame(notes.steps, ['inner', 'confirmed'])
})

t.test('what a step does within after its time limit is not part of the order either', async (t) => {
  const { client, taskId } = await serveTask(t, `
    await ctx.step('late', { timeoutMs: 50 }, async () => {
      await pause(150)
      await ctx.step('inner', did('inner')).catch(() => {})
    }).catch(did('caught'))
    await pause(run === 1 ? 300 : 0)
    await ctx.step('next', did('next'))
    await ctx.sleep(1000)
    return 'fine'`)
  t.match(await client.until(taskId, 'completed'), { result: { content: [{ text: 'fine' }] } })
})

t.test('a handler that tries on and on after its end does not keep the service busy', async (t) => {
  const { client, taskId, time } = await serveTask(t, `
    for (;;) {
      try {
        return await ctx.step('poll', async () => {
          await pause(20)
          throw new Error('not yet')
        })
      } catch {
        notes.polls++
        if (notes.isOver) return
      }
    }`)
  await time.until(() => notes.polls > 2, 'some polls')
  await client.cancel(taskId)
  await time.during(timers.pause(100), 100)
  const before = notes.polls
  await time.during(timers.pause(300), 300)
  t.ok(notes.polls - before <= 12, `${notes.polls - before} polls after the cancel`)
  t.match(await client.get(taskId), { status: 'cancelled' })
  notes.isOver = true
})

t.test('a step whose result is too large is not done again when its failure was caught', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const caught = (error) => error.message.slice(0, 31)
    const text = await ctx.step('large', () => did('large')().repeat(60_000)).catch(caught)
    await ctx.sleep(1000)
    return text`)
  t.match(await client.until(taskId, 'completed'), {
    result: { content: [{ text: 'The results of once and step, t' }] }
  })
  t.strictSame(notes.steps, ['large'])
})

t.test('a key must not be the name of an attempt at another step', async (t) => {
  const { client, taskId } = await serveTask(t, `
    await ctx.step('a', () => { throw new Error('first') }).catch(() => {})
    await ctx.step('a', did('a'))
    return await ctx.step('a (attempt 2)', did('never')).catch((error) => error.message)`)
  t.match(await client.until(taskId, 'completed'), {
    result: { content: [{ text: /^The key "a \(attempt 2\)" ends as the names of further attempts/ }] }
  })
  t.strictSame(notes.steps, ['a'])
})

t.test('sleeps are told apart by their keys', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const nap = async (key, ms) => { await ctx.sleep(ms, { key }); return key }
    const naps = [nap('short', 1000), nap('long', 2000)]
    return (await Promise.all(run === 1 ? naps : naps.reverse())).join()`)
  t.match(await client.until(taskId, 'completed', 8000), { result: { content: [{ text: /short/ }] } })
  t.ok(notes.runs <= 3, `${notes.runs} runs`)
})

t.test('a sleep with a key may have another length in each run: the first one counts', async (t) => {
  const { client, taskId } = await serveTask(t, `
    await ctx.sleep(run > 1 ? 3_600_000 : 1000, { key: 'until' })
    return 'awake'`)
  t.match(await client.until(taskId, 'completed'), { result: { content: [{ text: 'awake' }] } })
})

t.test('sleeps without a key that run beside each other may come in any order', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const nap = async (ms) => { await ctx.sleep(ms); return ms }
    const naps = run % 2 === 1 ? [nap(1000), nap(2500)] : [nap(2500), nap(1000)]
    await Promise.all([...naps, ctx.sleep(5)])
    return (await Promise.all(naps)).join()`)
  const { result, createdAt, lastUpdatedAt } = await client.until(taskId, 'completed', 8000)
  t.match(result.content[0].text, /1000/)
  t.ok(Date.parse(lastUpdatedAt) - Date.parse(createdAt) >= 2400, 'the longer one lasts as long as it says')
})

t.test('a step must not sleep, whatever it has awaited', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const problems = []
    const note = (error) => problems.push(error.message)
    await ctx.once('once', async () => { await null; await ctx.sleep(2000).catch(note) })
    await ctx.step('step', { timeoutMs: 500 }, async () => {
      await pause(5)
      await ctx.sleep(1, { key: 'k' }).catch(note)
    })
    await Promise.all([ctx.step('beside', did('beside')), ctx.sleep(1)])
    return problems.join()`)
  const { result } = await client.until(taskId, 'completed')
  t.match(result.content[0].text, /^sleep: a step must not sleep.*,sleep: a step must not sleep/)
})

t.test('a key of a sleep is a text that is neither empty nor a number', async (t) => {
  const { client, taskId } = await serveTask(t, `
    const problems = []
    for (const key of ['', '0', 7]) await ctx.sleep(1, { key }).catch((error) => problems.push(error.name))
    return problems.join()`)
  t.match(await client.until(taskId, 'completed'), {
    result: { content: [{ text: 'TypeError,TypeError,TypeError' }] }
  })
})

t.test('questions are part of the order', async (t) => {
  const { client, taskId } = await serveTask(t, `
    await ctx.once('first', did('first'))
    if (run > 1) await ctx.once('early', did('early'))
    await ctx.ask({ go: ${FORM} })`)
  await client.until(taskId, 'input_required')
  await client.update(taskId, { go: { action: 'accept', content: {} } })
  t.match(await client.until(taskId, 'failed'), { error: { message: /does not do what it did before/ } })
  t.strictSame(notes.steps, ['first'])
})

t.test('a key that was used twice is an error of the tool, which the log names', async (t) => {
  const { log, client, taskId } = await serveTask(t, `
    for (const item of ['a', 'b']) await ctx.step('place', did(item))`)
  await client.until(taskId, 'failed')
  t.match(log.text(), /The key \\"place\\" of once or step was used twice in one run/)
  t.strictSame(notes.steps, ['a'])
})
