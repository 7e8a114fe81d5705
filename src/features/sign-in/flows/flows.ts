// The way of a person through a sign-in: the consent, the identity provider, and back to the client.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { retryFor } from '../../../base/retry.ts'
import { clock } from '../../../base/time.ts'
import { clip } from '../../../base/words.ts'
import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import { BASE_SCOPE, BEGINS_AGAIN, CONSENT_PATH, ENGINE_ROUTES, FLOW_SECONDS } from '../engine/metadata.ts'
import type { GrantRecords } from '../grants/grant-records.ts'
import type { ProviderTokenStore } from '../grants/provider-tokens.ts'
import type { IdentityProvider, SignedInPerson } from '../people/identity-provider.ts'
import type { PeopleRules, Person } from '../people/people.ts'
import type { Connections } from './connections.ts'
import { createConsents, fingerprintOf, toConsent, type Consent } from './consents.ts'
import type { Cookies } from './cookies.ts'
import type { EndedConsents } from './ended-consents.ts'
import type { Arrival, Identify } from './identify.ts'
import type { Passages, PassageAim } from './passages.ts'
import type { Repetition, Step } from './steps.ts'

export interface FlowsOptions {
  readonly engine: Provider
  readonly issuer: string
  /** The endpoint, for which tokens are. */
  readonly resource: string
  readonly grants: GrantRecords
  readonly providerTokens: Pick<ProviderTokenStore, 'begin'>
  readonly identityProvider: IdentityProvider
  readonly rules: PeopleRules
  readonly sealer: Sealer
  readonly passages: Passages
  readonly identify: Identify
  readonly connections: Connections
  readonly endedConsents: EndedConsents
}

export interface ConsentAnswer { readonly isAllowed: boolean, readonly token: string }

type Interaction = InstanceType<Provider['Interaction']>

const NOT_ALLOWED = { error: 'access_denied', error_description: 'the person has not allowed it' }
const REFUSED = {
  provider: { error: 'access_denied', error_description: 'the identity provider has refused the sign-in' },
  rules: { error: 'access_denied', error_description: 'this person may not use the service' }
}
/** How long a callback waits for another one of the same way, in milliseconds. */
const OTHER_CALLBACK_MS = 10_000

/** Each function rejects with an AuthenticationUnavailable if the identity provider gives no answer. */
export function createFlows (
  {
    engine, issuer, resource, grants, providerTokens, identityProvider, rules, sealer, passages, ...parts
  }: FlowsOptions
) {
  const { identify, connections, endedConsents } = parts
  const consents = createConsents(sealer, clock.now)

  /** Resolves to `undefined` if the browser has no such flow. */
  async function findFlow (
    request: IncomingMessage, response: ServerResponse
  ): Promise<Interaction | undefined> {
    try {
      return await engine.interactionDetails(request, response)
    } catch (error) {
      if (error instanceof Error && error.name === 'SessionNotFound') return undefined
      throw error
    }
  }

  async function readConsent ({ params }: Interaction): Promise<Consent> {
    const client = await engine.Client.find(String(params.client_id))
    return toConsent(params, client?.metadata() ?? {}, Object.keys(rules.scopes))
  }

  function toQuestion (flow: Interaction, consent: Consent, why: unknown): Step {
    const token = consents.toFormToken(flow.uid, consent, FLOW_SECONDS)
    return { kind: 'ask', consent, token, ...(typeof why === 'string' && { why }) }
  }

  async function goToProvider (flow: Interaction, consent: Consent, subject?: string): Promise<Step> {
    const { passage, cookie } = passages.create(
      flow.uid, { consent: fingerprintOf(consent), ...(subject !== undefined && { subject }) }
    )
    return { kind: 'go', url: await identityProvider.begin(passage), cookies: [cookie] }
  }

  /** Keeps the grant that the person has given. Resolves to `undefined` if the person has too many. */
  async function createGrant (
    { subject, scopes }: Person, signedIn: SignedInPerson, { clientId, clientName, clientHost }: Consent,
    { params }: Interaction
  ): Promise<string | undefined> {
    const id = grants.newId(subject)
    const about = {
      clientName: clip(clientName ?? clientHost ?? ''),
      ...(clientHost !== undefined && { clientHost }),
      createdAt: clock.now()
    }
    const isNew = await grants.create(id, { grant: {}, about, ...providerTokens.begin(id, signedIn) })
    if (!isNew) return undefined
    const grant = new engine.Grant({ accountId: subject, clientId })
    grant.jti = id
    const names = String(params.scope ?? '').split(' ')
    grant.addOIDCScope(names.filter((name) => name === BASE_SCOPE || name === 'offline_access').join(' '))
    grant.addResourceScope(resource, names.filter((name) => scopes.has(name)).join(' '))
    await grant.save()
    return id
  }

  /** Ends the flow in the engine, once. Returns the address that says so to the client. */
  async function conclude (flow: Interaction, result: NonNullable<Interaction['result']>): Promise<string> {
    const last = await engine.Interaction.find(flow.uid)
    if (last !== undefined && last.result === undefined) {
      last.result = result
      await last.persist()
    }
    return flow.returnTo
  }

  /** Returns the address that says to the client how a flow has ended, when it has. */
  async function waitForResult (state: string): Promise<string> {
    return await retryFor(OTHER_CALLBACK_MS, async () => {
      const flow = await engine.Interaction.find(state)
      if (flow !== undefined && flow.result === undefined) {
        throw new AuthenticationUnavailable('another callback of the same sign-in has not ended')
      }
      return flow?.returnTo ?? `${issuer}${ENGINE_ROUTES.authorization}/${state}`
    }, { firstMs: 100, maxMs: 500 })
  }

  /** Returns the address at which a flow begins again. */
  function toStart ({ params }: Interaction, why?: Repetition): string {
    const url = new URL(`${issuer}${ENGINE_ROUTES.authorization}`)
    for (const [name, value] of Object.entries({ ...params, [BEGINS_AGAIN]: why })) {
      if (typeof value === 'string') url.searchParams.set(name, value)
    }
    return url.href
  }

  async function finishFlow (
    flow: Interaction, consent: Consent, passage: PassageAim, arrival: Arrival, way: string | undefined
  ): Promise<Step> {
    if (arrival.kind === 'refused') {
      return { ...arrival, again: toStart(flow), back: await conclude(flow, REFUSED[arrival.by]) }
    }
    const { person, ...signedIn } = arrival
    if (passage.subject !== undefined && passage.subject !== person.subject) {
      return { kind: 'go', url: toStart(flow, 'person'), cookies: [consents.forget(consent)] }
    }
    const grantId = await createGrant(person, signedIn, consent, flow)
    if (grantId === undefined) return { kind: 'too many grants', url: connections.url, again: toStart(flow) }
    const url = await conclude(flow, {
      login: { accountId: person.subject, remember: false }, consent: { grantId }, select_account: {}, way
    })
    const cookies = passage.subject === undefined ? consents.remember(consent, person.subject) : []
    return { kind: 'go', outcome: 'finished', url, cookies }
  }

  return {
    async ask (request: IncomingMessage, response: ServerResponse, cookies: Cookies): Promise<Step> {
      const flow = await findFlow(request, response)
      if (flow === undefined) return { kind: 'lost' }
      if (flow.result !== undefined) return { kind: 'go', url: flow.returnTo }
      const consent = await readConsent(flow)
      const { [BEGINS_AGAIN]: why, prompt } = flow.params
      const mustAsk = why !== undefined || String(prompt ?? '').split(' ').includes('consent')
      const { subject, since } = (mustAsk ? undefined : consents.recall(consent, cookies)) ?? {}
      if (subject !== undefined && !await endedConsents.hasEnded(subject, since ?? 0)) {
        return await goToProvider(flow, consent, subject)
      }
      return toQuestion(flow, consent, why)
    },

    async answer (
      request: IncomingMessage, response: ServerResponse, { isAllowed, token }: ConsentAnswer
    ): Promise<Step> {
      const flow = await findFlow(request, response)
      if (flow === undefined) return { kind: 'lost' }
      const consent = await readConsent(flow)
      if (!consents.isOfForm(flow.uid, consent, token)) return toQuestion(flow, consent, 'change')
      if (isAllowed) return await goToProvider(flow, consent)
      return { kind: 'go', outcome: 'cancelled', url: await conclude(flow, NOT_ALLOWED) }
    },

    /** @param query of the URL that the person came back to. */
    async finish (query: string, cookies: Cookies): Promise<Step> {
      const state = new URLSearchParams(query).get('state') ?? ''
      const passage = passages.read(state, cookies)
      if (passage !== undefined && passage.consent === undefined) {
        return await connections.finish(query, passage)
      }
      const flow = await engine.Interaction.find(state)
      if (flow === undefined) return { kind: 'lost' }
      // The consent page knows its browser: another one must not learn what the client has said.
      if (passage === undefined) return { kind: 'go', url: `${issuer}${CONSENT_PATH}/${flow.uid}` }
      const consent = await readConsent(flow)
      if (fingerprintOf(consent) !== passage.consent) return { kind: 'go', url: toStart(flow, 'change') }
      if (flow.result !== undefined) return { kind: 'go', url: flow.returnTo }
      const arrival = await identify(query, passage)
      if (arrival === undefined) return { kind: 'go', url: await waitForResult(state) }
      const step = await finishFlow(flow, consent, passage, arrival, passages.nameWay(state, cookies))
      return step.kind === 'go' ? step : { ...step, cookies: [passages.end(state)] }
    },

    /** Names the way on which a browser comes back from `finish`: no other may have the code. */
    nameWay: passages.nameWay,
    endWay: passages.end
  }
}
