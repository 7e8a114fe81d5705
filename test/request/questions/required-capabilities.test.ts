import t from 'tap'
import { roots, sample } from '../../../src/platform/author/input-request.ts'
import type { ClientCapabilities } from '../../../src/platform/protocol/capabilities.ts'
import { ProtocolError } from '../../../src/platform/protocol/errors.ts'
import { InputRequired } from '../../../src/request/questions/round-state.ts'
import { alice, askName, capital, name, page } from './question-examples.ts'
import { createRounds, runRound } from './rounds.ts'

const rounds = createRounds()

const base = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 1 } as const

t.test('error -32021 names exactly the missing capabilities (90, 212, 213, 233)', async (t) => {
  const withTools = sample({ ...base, tools: [{ name: 'x', inputSchema: { type: 'object' } }] })
  const withChoice = sample({ ...base, toolChoice: { mode: 'none' } })
  const withContext = sample({ ...base, includeContext: 'allServers' })
  const withoutContext = sample({ ...base, includeContext: 'none' })
  const cases: ReadonlyArray<readonly [
    declared: ClientCapabilities, request: object, missing: ClientCapabilities | undefined
  ]> = [
    [{}, { name }, { elicitation: { form: {} } }],
    [{ elicitation: {} }, { name }, undefined],
    [{ elicitation: { form: {} } }, { name }, undefined],
    [{ elicitation: { url: {} } }, { name }, { elicitation: { form: {} } }],
    [{}, { page }, { elicitation: { url: {} } }],
    [{ elicitation: {} }, { page }, { elicitation: { url: {} } }],
    [{ elicitation: { form: {} } }, { page }, { elicitation: { url: {} } }],
    [{ elicitation: { url: {} } }, { page }, undefined],
    [{}, { capital }, { sampling: {} }],
    [{ sampling: {} }, { capital }, undefined],
    [{}, { withTools }, { sampling: { tools: {} } }],
    [{ sampling: {} }, { withTools }, { sampling: { tools: {} } }],
    [{ sampling: {} }, { withChoice }, { sampling: { tools: {} } }],
    [{ sampling: { tools: {} } }, { withTools, withChoice }, undefined],
    [{ sampling: { tools: {} } }, { withContext }, { sampling: { context: {} } }],
    [{ sampling: { context: {} } }, { withContext }, undefined],
    [{ sampling: {} }, { withoutContext }, undefined],
    [{}, { r: roots() }, { roots: {} }],
    [{ roots: {} }, { r: roots() }, undefined],
    [
      { sampling: {} }, { name, page, withTools, withContext, r: roots() },
      { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }
    ],
    [{ elicitation: {} }, { name, capital }, { sampling: {} }]
  ]
  for (const [capabilities, requests, missing] of cases) {
    const { error, pending } = await runRound(rounds, async (round) => await round.ask({ ...requests }), {
      capabilities
    })
    if (missing === undefined) {
      t.ok(error instanceof InputRequired, JSON.stringify([capabilities, Object.keys(requests)]))
    } else {
      t.match(error, { code: -32021, httpStatus: 400 })
      t.strictSame(
        error instanceof ProtocolError && error.data, { requiredCapabilities: missing },
        JSON.stringify([capabilities, Object.keys(requests)])
      )
      t.equal(pending, undefined, 'the round asks no question')
    }
  }
})

t.test('an answered question needs no capability (213, 220)', async (t) => {
  t.strictSame(
    (await runRound(rounds, askName, { capabilities: {}, inputResponses: { name: alice } })).value, alice
  )
  const { value, pending } = await runRound(
    rounds, async (round) => await round.ask({ name }).catch(() => 'without'), { capabilities: {} }
  )
  t.equal(value, 'without')
  t.equal(pending, undefined)
})
