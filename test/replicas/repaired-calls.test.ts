// A call whose arguments are repaired is sent again to a replica that repairs none: one of an earlier
// release, or one whose server.yaml says so. It is refused, or answered as the first one, and runs once.
//
// By hand, with dist/main.js of an earlier release:
// TRIVET_TEST_EARLIER_MAIN=… node test/runner/run.mjs test/replicas/repaired-calls.test.ts

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import type { Message } from '../helpers/request.ts'
import { startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'
import { callOf, textOf } from '../hosts/plain-client.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

const EARLIER_MAIN = process.env['TRIVET_TEST_EARLIER_MAIN']
const FORMS = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
const ACCEPT = { go: { action: 'accept', content: {} } }
/** As a model sends them, and as the schema wants them. */
const SENT = { count: '5', note: null }
const REPAIRED = { count: 5 }

const toTools = (runs: string) => `
  import { appendFileSync } from 'node:fs'
  import { defineTool, elicit } from 'trivet'
  const inputSchema = {
    type: 'object', properties: { count: { type: 'integer' }, note: { type: 'string' } }, required: ['count']
  }
  const note = (name) => { appendFileSync(${JSON.stringify(runs)}, name + ' ') }
  const define = (name, options, run) => defineTool({ name, description: 'A tool.', inputSchema, ...options, run })
  const form = elicit.form({ message: 'Go?', schema: { type: 'object', properties: {} } })
  export default [
    define('asks', { relayQuestions: true }, async ({ count }, ctx) => {
      await ctx.once('first', () => note('asks'))
      const { go } = await ctx.ask({ go: form })
      return go.action + ' ' + count
    }),
    define('pays', { annotations: { idempotentHint: true }, dedupe: true }, ({ count }) => {
      note('pays')
      return crypto.randomUUID() + ' ' + count
    }),
    define('works', { task: 'allowed', onReplicaLoss: 'rerun' }, async ({ count }, ctx) => {
      await ctx.step('first', () => note('works'))
      await ctx.sleep(1500)
      return 'worked ' + count
    })
  ]`

async function startPair (t: Test) {
  const runs = join(await makeFolder(t), 'runs')
  await writeFile(runs, '')
  const tools = toTools(runs)
  const redis = await startRedisServer(t)
  const start = async (yaml: string, main?: string) => await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, { 'tools/all.ts': tools, 'server.yaml': yaml }),
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'the secret that both replicas have',
    TRIVET_TASK_WAIT_MS: '100'
  }, { ...main !== undefined && { command: [process.execPath, main] } })
  const repairing = await start('name: shop\n')
  const strict = EARLIER_MAIN === undefined
    ? await start('name: shop\narguments: strict\n')
    : await start('name: shop\n', EARLIER_MAIN)
  const toCall = (url: string) => async (
    name: string, args: object, more: object = {}, parts: { headers?: object, meta?: object } = {}
  ): Promise<Message> => {
    const { response } = await post(t, url, {
      method: 'tools/call', params: { name, arguments: args, ...more }, ...parts as object
    })
    return response.result ?? response.error
  }
  return {
    repairing: toCall(repairing.url),
    strict: toCall(strict.url),
    countRuns: async (name: string) => (await readFile(runs, 'utf8')).split(`${name} `).length - 1
  }
}

/** Checks that the model is told of the argument: as a result, or as an error in earlier releases. */
function checkRefused (t: Test, answer: Message, name: string): void {
  t.ok(answer.isError === true || answer.code === -32602, name)
  t.match(JSON.stringify(answer), /count.*must be integer/, name)
}

t.test('on Redis', { skip: !hasRedisServer(t) }, async (t) => {
  const { repairing, strict, countRuns } = await startPair(t)

  t.test('an answer with its request state is refused, and then taken where the call began', async (t) => {
    const parts = { meta: FORMS }
    const { requestState } = await repairing('asks', SENT, {}, parts)
    const answer = { inputResponses: ACCEPT, requestState }
    checkRefused(t, await strict('asks', SENT, answer, parts), 'as the model sends them')
    t.equal(textOf(await strict('asks', REPAIRED, answer, parts)), 'accept 5', 'as they are repaired')
    t.equal(textOf(await repairing('asks', SENT, answer, parts)), 'accept 5', 'where the call began')
    t.equal(await countRuns('asks'), 1)
    const begun = await strict('asks', REPAIRED, {}, parts)
    const next = { inputResponses: ACCEPT, requestState: begun.requestState }
    t.equal(textOf(await repairing('asks', SENT, next, parts)), 'accept 5', 'begun where nothing is repaired')
    t.equal(await countRuns('asks'), 2)
  })

  t.test('a repetition is refused, or has the answer of the first call', async (t) => {
    const parts = { headers: { 'idempotency-key': 'payment 4711' } }
    const first = textOf(await repairing('pays', SENT, {}, parts))
    t.match(first, / 5$/)
    checkRefused(t, await strict('pays', SENT, {}, parts), 'as the model sends them')
    t.equal(textOf(await strict('pays', REPAIRED, {}, parts)), first, 'as they are repaired')
    t.equal(textOf(await repairing('pays', SENT, {}, parts)), first)
    t.equal(await countRuns('pays'), 1)
  })

  t.test('a call that goes on has one form on all replicas', async (t) => {
    const parts = { headers: { 'idempotency-key': 'work 4711' } }
    const begun = await repairing('works', SENT, {}, parts)
    checkRefused(t, await strict('works', SENT, {}, parts), 'as the model sends them')
    t.match(textOf(await strict('works', REPAIRED, {}, parts)), /still at work/)
    let continued = begun
    while (!textOf(continued).startsWith('worked')) {
      continued = await strict('continue_call', { call: callOf(continued) })
    }
    t.equal(textOf(continued), 'worked 5')
    t.equal(textOf(await strict('works', REPAIRED, {}, parts)), 'worked 5')
    t.equal(await countRuns('works'), 1)
  })
})
