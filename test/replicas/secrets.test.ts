// Secrets can be replaced while questions are open, one step after the other, as the README says; and what a
// service says of secrets that will not do.

import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { within } from '../helpers/deadline.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { runService, startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'

const NOT_GIVEN = /requestState is not one that this request was given.*send the request again without it/
const TRIVET_CATALOG = fileURLToPath(new URL('../../catalog', import.meta.url))
const OLD = 'old-secret-4711-0123456789abcdefghij'
const NEW = 'new-secret-4712-0123456789abcdefghij'
/** A fleet on its way from the one secret to the other, a replica for each step. */
const STEPS = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]]

async function call (t: Test, url: string, name: string, args: object, retry: object = {}): Promise<Message> {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  return (
    await post(t, url, { method: 'tools/call', params: { name, arguments: args, ...retry }, meta })
  ).response
}

/** A basket with something in it. */
async function fillBasket (t: Test, url: string): Promise<string> {
  const { result: { structuredContent: { basketId } } } = await call(t, url, 'create_basket', {})
  await call(t, url, 'add_to_basket', { basketId, bookId: 'moby-dick' })
  return basketId
}

if (hasRedisServer(t)) {
  const redis = await startRedisServer(t)
  const shared = {
    TRIVET_CATALOG, TRIVET_WATCH: 'off', TRIVET_STATE_URL: redis.url, TRIVET_LOG_LEVEL: 'trace'
  }
  const services = await Promise.all(
    STEPS.map(async (secrets) => await startService(t, { ...shared, TRIVET_SECRETS: secrets.join(',') }))
  )
  const urlOf = (step: number): string => services[step]?.url ?? ''

  t.test('a question is answered wherever the secret that sealed it is known, first or not, and refused ' +
    'elsewhere (215)', async (t) => {
    const basketId = await fillBasket(t, urlOf(0))
    for (const [from, [sealing = '']] of STEPS.entries()) {
      const { result: { requestState } } = await call(t, urlOf(from), 'checkout', { basketId })
      for (const [to, opening] of STEPS.entries()) {
        const { result, error } = await call(t, urlOf(to), 'checkout', { basketId }, {
          requestState, inputResponses: { confirmation: { action: 'decline' } }
        })
        const what = `sealed with ${STEPS[from]}, opened with ${opening}`
        if (opening.includes(sealing)) t.strictSame(result?.structuredContent, { ordered: false }, what)
        else {
          t.match(
            error,
            {
              code: -32602,
              message: NOT_GIVEN
            },
            what
          )
        }
      }
    }
    const { result: { structuredContent } } = await call(t, urlOf(0), 'view_basket', { basketId })
    t.notOk(structuredContent.order, 'and nothing was ordered')
  })

  t.test('in no step of the replacement is an answer refused, whichever of its two replicas asked', async (
    t
  ) => {
    for (const step of [0, 1, 2]) {
      for (const [from, to] of [[step, step + 1], [step + 1, step]] as const) {
        const basketId = await fillBasket(t, urlOf(from))
        const { result: { requestState } } = await call(t, urlOf(from), 'checkout', { basketId })
        const answered = await call(t, urlOf(to), 'checkout', { basketId }, {
          requestState, inputResponses: { confirmation: { action: 'accept', content: { confirm: true } } }
        })
        t.match(
          answered, { result: { structuredContent: { ordered: true, order: { number: String } } } },
          `asked in step ${from}, answered in step ${to}`
        )
      }
    }
  })

  t.test('a question that is refused for its secret can be asked anew, and then answered', async (t) => {
    const basketId = await fillBasket(t, urlOf(3))
    const { result: lost } = await call(t, urlOf(0), 'checkout', { basketId })
    const answers = { inputResponses: { confirmation: { action: 'accept', content: { confirm: true } } } }
    t.match(
      (
        await call(t, urlOf(3), 'checkout', { basketId }, { ...answers, requestState: lost.requestState })
      ).error,
      { code: -32602 }
    )
    const { result: asked } = await call(t, urlOf(3), 'checkout', { basketId })
    t.match(
      (
        await call(t, urlOf(3), 'checkout', { basketId }, { ...answers, requestState: asked.requestState })
      ).result,
      { structuredContent: { ordered: true } }
    )
  })

  t.test('with shared state and no secret a service refuses to start, and says what to do', async (t) => {
    for (const TRIVET_SECRETS of [undefined, '', ' , ']) {
      const { code, stdout, stderr } = await within(
        runService({ ...shared, ...(TRIVET_SECRETS === undefined ? {} : { TRIVET_SECRETS }) }), 'its end',
        20_000
      )
      t.equal(code, 1)
      t.notMatch(stdout, /serves/)
      t.match(
        stderr,
        /^The settings are not usable:\n {2}TRIVET_SECRETS is not set, but TRIVET_STATE_URL is shared: .*\n$/
      )
      t.match(
        stderr, /Give all replicas the same secret of 32 characters or more.*openssl rand -base64 48\n$/
      )
    }
  })

  t.test('a problem with a short secret names no secret', async (t) => {
    for (const TRIVET_SECRETS of ['hunter2', `${NEW},hunter2`, `hunter2,${NEW}`]) {
      const { code, stdout, stderr } = await within(
        runService({ ...shared, TRIVET_SECRETS }), 'its end', 20_000
      )
      t.equal(code, 1)
      t.match(stderr, 'TRIVET_SECRETS must be a comma-separated list of secrets of 32 characters or more ' +
        'each, got something else\n')
      t.notMatch(stdout + stderr, /hunter2|4712/)
    }
  })

  t.test('no log has a secret or a request state in it, however talkative (254)', async (t) => {
    const basketId = await fillBasket(t, urlOf(2))
    const { result: { requestState } } = await call(t, urlOf(2), 'checkout', { basketId })
    for (const to of [1, 3]) await call(t, urlOf(to), 'checkout', { basketId }, { requestState })
    await call(t, urlOf(0), 'checkout', { basketId }, { requestState })
    for (const { stdout, stderr } of services) {
      t.match(stdout(), /"name":"checkout"/)
      for (const secret of [OLD, NEW, String(requestState), String(requestState).slice(9, 40)]) {
        t.notOk((stdout() + stderr()).includes(secret))
      }
    }
  })
}
