// Each operation of the store fails in each way, on one replica of two, while a client redeems a code or
// refreshes. The client repeats its request on the other replica.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { replaceTime } from '../../../src/base/time.ts'
import { FAULTS, type Fault } from '../../helpers/faulty-store.ts'
import { openReplicas, type Rotation } from './engine-replicas.ts'
import { refresh, type Answer } from './grants-setup.ts'

/** Clocks go this much faster: leases and repetitions take seconds. */
const SPEED = 20
/** More operations than a request has. */
const OPERATIONS = 16
/** How long a client waits for an answer, in true milliseconds. */
const PATIENCE_MS = 600
/** How long it waits before it asks the other replica. */
const HASTE_MS = 60
const AT_ONCE = 4
/** Faults after which the client gets no answer in time. */
const SILENT: readonly Fault[] = ['killed-before', 'killed-after', 'paused']

function hurry (t: Test): void {
  const [start, origin] = [Date.now(), performance.now()]
  const fast = () => (performance.now() - origin) * SPEED
  t.teardown(replaceTime({
    now: () => start + Math.round(fast()),
    monotonic: fast,
    pause: async (ms) => await pause(ms / SPEED),
    setTimeout: (callback, ms) => setTimeout(callback, ms / SPEED)
  }))
}

/** Sends a form. Resolves to `undefined` if the replica gives no answer. */
async function send (origin: string, form: Record<string, string>): Promise<Answer | undefined> {
  try {
    const response = await fetch(`${origin}/sign-in/token`, {
      method: 'POST', body: new URLSearchParams(form), signal: AbortSignal.timeout(PATIENCE_MS)
    })
    return { status: response.status, body: await response.json() as Answer['body'] }
  } catch {
    return undefined
  }
}

/** Sends it again while the replica says that a later time is better. */
async function insist (origin: string, form: Record<string, string>): Promise<Answer | undefined> {
  for (let attempt = 0; ; attempt++) {
    const answer = await send(origin, form)
    if ((answer !== undefined && answer.status !== 503) || attempt === 20) return answer
    await pause(50)
  }
}

const toForm = (clientId: string, token: unknown) => (
  { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(token) }
)

async function forEachFault (run: (at: number, fault: Fault) => Promise<void>): Promise<void> {
  const cases = FAULTS.flatMap((fault) => (
    Array.from({ length: OPERATIONS }, (_, at) => [at, fault] as const)
  )).values()
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const [at, fault] of cases) await run(at, fault)
  }))
}

t.test('a code gives tokens once, whatever fails', async (t) => {
  hurry(t)
  await forEachFault(async (at, fault) => {
    const what = `${fault} at operation ${at}`
    const { faulty, sick, well, createCode } = await openReplicas(t)
    const { form, clientId } = await createCode()
    faulty.fail(at, fault)
    const first = send(sick.origin, form)
    const early = await (SILENT.includes(fault) ? Promise.race([first, pause(HASTE_MS)]) : first)
    const answer = early?.status === 200 ? early : await insist(well.origin, form)
    const late = early ?? await first
    if (answer?.status !== 200) t.match(answer, { status: 400, body: { error: 'invalid_grant' } }, what)
    const tokens = new Set([answer, late].flatMap(
      (reply) => reply?.status === 200 ? [reply.body.refresh_token] : []
    ))
    const refreshed = await Promise.all(
      [...tokens].map(async (token) => await refresh(well.origin, clientId, token))
    )
    const count = refreshed.filter(({ status }) => status === 200).length
    t.ok(count <= 1, what)
    // The client was told that nothing had happened.
    if (fault === 'refused' || fault === 'lost') t.equal(count, 1, `${what}: the client has come in`)
  })
})

const WORDS = { keeps: 'takes its refresh tokens again', strict: 'takes each refresh token once' }

for (const rotation of ['keeps', 'strict'] satisfies Rotation[]) {
  t.test(`a refresh is not lost, whatever fails: the provider ${WORDS[rotation]}`, async (t) => {
    hurry(t)
    let lost = 0
    await forEachFault(async (at, fault) => {
      const what = `${fault} at operation ${at}`
      const { faulty, sick, well, createCode, identityProvider } = await openReplicas(t, { rotation })
      const { form, clientId, grantId } = await createCode()
      const { body } = await send(well.origin, form) ?? { body: { refresh_token: '' } }
      // The provider has vouched just now.
      await pause(12_000 / SPEED)
      faulty.fail(at, fault)
      const asked = toForm(clientId, body.refresh_token)
      const first = send(sick.origin, asked)
      const early = await (SILENT.includes(fault) ? Promise.race([first, pause(HASTE_MS)]) : first)
      const answer = early?.status === 200 ? early : await insist(well.origin, asked)
      if (answer?.status === 400 && rotation === 'strict') {
        lost++
        t.equal(await well.grants.read(grantId), undefined, `${what}: the person signs in again`)
        return
      }
      t.equal(answer?.status, 200, what)
      const late = early ?? await first
      if (late?.status === 200) t.equal(late.body.refresh_token, answer?.body.refresh_token, what)
      t.ok(identityProvider.asked <= 3, what)
      const next = await insist(well.origin, toForm(clientId, answer?.body.refresh_token))
      t.equal(next?.status, 200, `${what}: and the next one too`)
    })
    t.comment(`${lost} grants of ${OPERATIONS * FAULTS.length} ended`)
    t.ok(lost <= 4)
  })
}
