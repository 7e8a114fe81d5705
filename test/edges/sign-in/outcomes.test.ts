// The operator sees in the metrics how sign-ins end.

import t from 'tap'
import { answer, BACK, beginFlow, open, signInThere, wayOf } from '../../features/sign-in/browser-flow.ts'
import { HELLO, startProvider, toOptions } from '../../features/sign-in/sign-in-service.ts'
import { buildMetered, linesOf } from '../../helpers/admin.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createPerson } from '../../helpers/person.ts'

const FILES = { ...HELLO, 'sign-in.yaml': 'admit: [{ claim: sub, anyOf: [alice] }]' }

t.test('each end of a sign-in is counted once, by its outcome', async (t) => {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const callbackUrl = `${origin}/sign-in/callback`
  const provider = await startProvider(t, `${origin}/mcp`)
  const { app, readMetrics } = await buildMetered(t, FILES, {
    ...toOptions(`${origin}/mcp`, provider), secrets: ['a secret that all replicas of the test have']
  })
  await app.listen({ host: '127.0.0.1', port })
  const begin = async () => (await beginFlow(origin)).url
  const alice = createPerson({ name: 'alice' })

  const ended = await alice.follow(await begin(), BACK)
  t.ok(ended.url.searchParams.has('code'))
  t.equal((await answer(alice, await open(alice, await begin()), 'cancel')).status, 200)
  t.equal((await createPerson({ name: 'bob' }).follow(await begin(), BACK)).status, 403)
  const allowed = await answer(alice, await open(alice, await begin()), 'allow')
  const refusal = new URL(callbackUrl)
  const state = wayOf(allowed)?.searchParams.get('state') ?? ''
  refusal.search = new URLSearchParams({ error: 'access_denied', state, iss: provider.origin }).toString()
  t.equal((await alice.visit(refusal)).status, 403)
  t.equal((await alice.visit(new URL(`${callbackUrl}?state=none`))).status, 400)
  const page = new URL(`${origin}/sign-in`)
  const passage = await alice.visit(page, new URLSearchParams({ action: 'sign-in' }))
  t.equal((await alice.visit(await signInThere(alice, passage, callbackUrl))).status, 303)
  const gone = await answer(alice, await open(alice, await begin()), 'allow')
  const last = await signInThere(alice, gone, callbackUrl)
  await provider.stop()
  t.equal((await alice.visit(last)).status, 503)

  t.strictSame(linesOf(await readMetrics(), 'trivet_sign_ins_total'), [
    'finished"} 2', 'cancelled"} 1', 'refused"} 1', 'not_admitted"} 1', 'too_many_grants"} 0', 'lost"} 1',
    'unavailable"} 1'
  ].map((end) => `trivet_sign_ins_total{outcome="${end}`))
})
