// A person's way, where what a client says of itself changes on the way.

import t, { type Test } from 'tap'
import { createFlows, type FlowsOptions } from '../../../src/features/sign-in/flows/flows.ts'
import type { Cookie } from '../../../src/features/sign-in/flows/cookies.ts'
import { createPassages } from '../../../src/features/sign-in/flows/passages.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'

const ISSUER = 'https://books.example'

/** Flows over an engine that has one flow, of a client whose document the test can change. */
function open (t: Test) {
  const document = { client_id: 'https://a.example/a', client_name: 'A' }
  const flow = {
    uid: 'one', params: { client_id: document.client_id, redirect_uri: 'https://a.example/back', state: 'its' }
  }
  const engine = {
    interactionDetails: async () => flow,
    Interaction: { find: async (id: string) => id === flow.uid ? flow : undefined },
    Client: { find: async () => ({ metadata: () => ({ ...document }) }) }
  }
  const sealer = createSealer(['secret'])
  const flows = createFlows({
    engine,
    issuer: ISSUER,
    rules: { admit: [], scopes: {}, subjectClaims: ['sub'] },
    sealer,
    passages: createPassages(sealer, 900, () => Date.now()),
    identityProvider: { begin: async () => 'https://login.example/' },
    identify: async () => t.fail('the code is redeemed')
  } as unknown as FlowsOptions)
  const jar = new Map<string, string>()
  const cookies = { read: (name: string) => jar.get(name), list: () => [] }
  const keep = (all: readonly Cookie[] = []) => { for (const { name, value } of all) jar.set(name, value) }
  const nothing = {} as Parameters<typeof flows.ask>[0] & Parameters<typeof flows.ask>[1]
  return {
    document,
    keep,
    ask: async () => await flows.ask(nothing, nothing, cookies),
    allow: async (token: string) => await flows.answer(nothing, nothing, { isAllowed: true, token }),
    finish: async () => await flows.finish('?state=one&code=any', cookies)
  }
}

t.test('a document that changes while the page is open is asked again', async (t) => {
  const { document, ask, allow } = open(t)
  const asked = await ask()
  if (asked.kind !== 'ask') throw new Error(asked.kind)
  document.client_name = 'B'
  const answered = await allow(asked.token)
  t.match(answered, { kind: 'ask', why: 'change', consent: { clientName: 'B' } })
  if (answered.kind !== 'ask') throw new Error(answered.kind)
  t.match(await allow(answered.token), { kind: 'go', url: 'https://login.example/' })
})

t.test('a document that changes while the person signs in is asked again', async (t) => {
  const { document, keep, ask, allow, finish } = open(t)
  const asked = await ask()
  if (asked.kind !== 'ask') throw new Error(asked.kind)
  keep((await allow(asked.token)).cookies)
  document.client_name = 'B'
  const step = await finish()
  if (step.kind !== 'go') throw new Error(step.kind)
  const url = new URL(step.url)
  t.equal(url.origin + url.pathname, `${ISSUER}/sign-in/authorize`)
  t.match(Object.fromEntries(url.searchParams), {
    begins_again: 'change', client_id: document.client_id, state: 'its'
  })
})
