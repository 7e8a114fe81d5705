// Each operation of the store fails in each way, on one replica of two, while a client redeems a code or
// refreshes. The client repeats its request on the other replica.

import { AsyncLocalStorage } from 'node:async_hooks'
import t, { type Test } from 'tap'
import { replaceTime, timers } from '../../../src/base/time.ts'
import { FAULTS, type Fault, type FaultyStore } from '../../helpers/faulty-store.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { openReplicas, toRefreshForm, type Replica, type Rotation } from './engine-replicas.ts'
import type { Answer } from './sign-in-service.ts'

/** More operations than a request has. */
const OPERATIONS = 16
/** How long a client waits for an answer. */
const PATIENCE_MS = 12_000
/** How long it waits before it asks the other replica. */
const HASTE_MS = 1200
/** How long it waits before it repeats a request, and how often it does. */
const REPEAT_MS = 1000
const MAX_REPEATS = 20
/** Longer than any client needs. */
const CASE_MS = 600_000
/** Faults after which the client gets no answer in time. */
const SILENT: readonly Fault[] = ['killed-before', 'killed-after', 'paused']

/** A request without an answer. */
interface OpenRequest {
  /** How many pauses it waits for. */
  pauses: number
  /** The store of its replica, if that store has faults. */
  readonly faulty: FaultyStore | undefined
}

const open = new Set<OpenRequest>()
const current = new AsyncLocalStorage<OpenRequest>()

/** Whether each request waits for time to pass, or for a replica that was killed. */
const isIdle = () => [...open].every(({ pauses, faulty }) => pauses > 0 || faulty?.isDead === true)

/** Replaces the time: it passes only while all requests wait for it, however slow the machine is. */
function createTime (t: Test): VirtualTime {
  const time = new VirtualTime(t)
  t.teardown(replaceTime({
    async pause (ms) {
      const request = current.getStore()
      if (request !== undefined) request.pauses++
      await new Promise<void>((resolve) => timers.setTimeout(resolve, ms))
      if (request !== undefined) request.pauses--
    }
  }))
  return time
}

/** Sends a form. Resolves to `undefined` if the replica gives no answer. */
async function send (
  { ask }: Replica, form: Record<string, string>, faulty?: FaultyStore
): Promise<Answer | undefined> {
  const request = { pauses: 0, faulty }
  open.add(request)
  const answer = current.run(request, async () => await ask(form)).finally(() => open.delete(request))
  return await Promise.race([answer, timers.pause(PATIENCE_MS).then(() => undefined)])
}

/** Sends it again while the replica says that a later time is better. */
async function insist (replica: Replica, form: Record<string, string>): Promise<Answer | undefined> {
  for (let attempt = 0; ; attempt++) {
    const answer = await send(replica, form)
    if ((answer !== undefined && answer.status !== 503) || attempt === MAX_REPEATS) return answer
    await timers.pause(REPEAT_MS)
  }
}

interface Case extends Awaited<ReturnType<typeof openCase>> {
  readonly fault: Fault
  /** The operation that fails. */
  readonly at: number
  readonly what: string
}

/** Two replicas, and a code. */
async function openCase (t: Test, rotation: Rotation | undefined) {
  const replicas = await openReplicas(t, rotation && { rotation })
  return { ...replicas, ...await replicas.createCode() }
}

async function forEachFault (
  t: Test, run: (one: Case) => Promise<void>, rotation?: Rotation
): Promise<void> {
  const time = createTime(t)
  for (const fault of FAULTS) {
    for (let at = 0; at < OPERATIONS; at++) {
      const one = { ...await openCase(t, rotation), fault, at, what: `${fault} at operation ${at}` }
      await time.during(run(one), CASE_MS, isIdle)
    }
  }
}

t.test('a code gives tokens once, whatever fails', async (t) => {
  await forEachFault(t, async ({ at, fault, what, faulty, sick, well, form, clientId }) => {
    faulty.fail(at, fault)
    const first = send(sick, form, faulty)
    const early = await (SILENT.includes(fault) ? Promise.race([first, timers.pause(HASTE_MS)]) : first)
    const answer = early?.status === 200 ? early : await insist(well, form)
    const late = early ?? await first
    if (answer?.status !== 200) t.match(answer, { status: 400, body: { error: 'invalid_grant' } }, what)
    const tokens = new Set([answer, late].flatMap(
      (reply) => reply?.status === 200 ? [reply.body.refresh_token] : []
    ))
    const refreshed = await Promise.all(
      [...tokens].map(async (token) => await send(well, toRefreshForm(clientId, token)))
    )
    const count = refreshed.filter((reply) => reply?.status === 200).length
    t.ok(count <= 1, what)
    // The client was told that nothing had happened.
    if (fault === 'refused' || fault === 'lost') t.equal(count, 1, `${what}: the client has come in`)
  })
})

const WORDS = { keeps: 'takes its refresh tokens again', strict: 'takes each refresh token once' }

for (const rotation of ['keeps', 'strict'] satisfies Rotation[]) {
  t.test(`a refresh is not lost, whatever fails: the provider ${WORDS[rotation]}`, async (t) => {
    let lost = 0
    await forEachFault(t, async (one) => {
      const { at, fault, what, faulty, sick, well, identityProvider, form, clientId, grantId } = one
      const { body } = await send(well, form) ?? { body: { refresh_token: '' } }
      // The provider has vouched just now.
      await timers.pause(12_000)
      faulty.fail(at, fault)
      const asked = toRefreshForm(clientId, body.refresh_token)
      const first = send(sick, asked, faulty)
      const early = await (SILENT.includes(fault) ? Promise.race([first, timers.pause(HASTE_MS)]) : first)
      const answer = early?.status === 200 ? early : await insist(well, asked)
      if (answer?.status === 400 && rotation === 'strict') {
        lost++
        t.equal(await well.grants.read(grantId), undefined, `${what}: the person signs in again`)
        return
      }
      t.equal(answer?.status, 200, what)
      const late = early ?? await first
      if (late?.status === 200) t.equal(late.body.refresh_token, answer?.body.refresh_token, what)
      t.ok(identityProvider.asked <= 3, what)
      const next = await insist(well, toRefreshForm(clientId, answer?.body.refresh_token))
      t.equal(next?.status, 200, `${what}: and the next one too`)
    }, rotation)
    t.comment(`${lost} grants of ${OPERATIONS * FAULTS.length} ended`)
    t.ok(lost <= 4)
  })
}
