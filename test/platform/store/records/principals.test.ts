// Random steps of two principals: neither reaches the other's state by an id, a URI or a request state.

import fc from 'fast-check'
import t from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import { FILES } from './principals-catalog.ts'
import { byHeader, Run, type Caller, type Way } from './principals-run.ts'

const by = fc.constantFrom(0 as const, 1 as const)
const guess = fc.record({
  seen: fc.nat(),
  form: fc.constantFrom(
    'as it is' as const, 'as it is' as const, 'as it is' as const, 'respelled' as const, 'made up' as const
  )
})
const way = fc.constantFrom<Way[]>('read', 'update', 'delete', 'delete', 'confirm', 'resource', 'prompt')
const steps = fc.array(fc.oneof(
  {
    arbitrary: fc.record({
      by, does: fc.constantFrom('create' as const, 'create' as const, 'draw' as const)
    }),
    weight: 3
  },
  { arbitrary: fc.record({ by, does: way, guess }), weight: 8 },
  { arbitrary: fc.record({ by, does: fc.constant('listen' as const), guess }), weight: 1 },
  {
    arbitrary: fc.record({
      by,
      does: fc.constant('answer' as const),
      state: fc.nat(),
      to: fc.oneof(
        { arbitrary: fc.constant('its request' as const), weight: 3 }, { arbitrary: way, weight: 2 },
        { arbitrary: fc.constant('draw' as const), weight: 1 }
      ),
      action: fc.constantFrom('accept' as const, 'decline' as const),
      guess
    }),
    weight: 4
  }
), { minLength: 40, maxLength: 80, size: 'max' })

const pairs: { readonly [who: string]: readonly [Caller, Caller] } = {
  'two people through one client': [{ subject: 'ada', clientId: 'app' }, { subject: 'bob', clientId: 'app' }],
  'one person through two clients': [
    { subject: 'ada', clientId: 'app' }, { subject: 'ada', clientId: 'other' }
  ],
  'somebody of that name and the anonymous': [{ subject: 'anonymous' }, {}]
}

for (const [who, callers] of Object.entries(pairs)) {
  t.test(`${who}: neither reaches the state of the other (67, 215, 216)`, { timeout: 120_000 }, async (t) => {
    const app = await buildApp(t, FILES, { authenticator: byHeader, maxHandlesPerCaller: 1_000_000 })
    const url = await listen(app)
    const seen = new Set<string>()
    await fc.assert(fc.asyncProperty(steps, async (steps) => {
      const run = new Run({ t, app, url, seen }, callers)
      for (const step of steps) await run.do(step)
      await run.end()
    }), { numRuns: 60 })
    const whose = ['another\'s', 'another\'s, deleted', 'nobody\'s', 'own', 'own, deleted']
    t.strictSame([...seen].toSorted(), [
      ...['own', 'stolen'].flatMap(
        (state) => ['to another', 'to its request'].map((to) => `answer: ${state} state, ${to}`)
      ),
      ...['confirm', 'delete', 'listen', 'prompt', 'read', 'resource', 'update'].flatMap(
        (way) => whose.map((one) => `${way}: ${one}`)
      )
    ], 'and every case came up')
  })
}
