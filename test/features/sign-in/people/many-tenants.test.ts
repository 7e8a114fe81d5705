// An issuer of Entra for several tenants: its metadata has a place for the tenant, and each ID token has one.

import t, { type Test } from 'tap'
import { TENANT } from '../../../servers/provider-behaviors.ts'
import { startProviderService } from './provider-service.ts'

const ENTRA = 'https://login.microsoftonline.com'
const COMMON = `${ENTRA}/common/v2.0`

/** Lets requests for Entra go to the server of the test. */
function routeTo (t: Test, origin: string): void {
  const { fetch } = globalThis
  t.teardown(() => { globalThis.fetch = fetch })
  globalThis.fetch = async (input, init) => {
    const url = String(input)
    if (!url.startsWith(ENTRA)) return await fetch(input, init)
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-proto', 'https')
    headers.set('x-forwarded-host', new URL(ENTRA).host)
    const isCommon = url.startsWith(`${COMMON}/.well-known/`)
    const path = url.slice(ENTRA.length).replace('/common/', `/${TENANT}/`)
    const answer = await fetch(`${origin}${path}`, { ...init, headers })
    if (!isCommon) return withoutIssuer(answer)
    const { authorization_response_iss_parameter_supported: _, ...metadata } = await answer.json() as Metadata
    return Response.json({ ...metadata, issuer: `${ENTRA}/{tenantid}/v2.0` })
  }
}

interface Metadata { readonly authorization_response_iss_parameter_supported?: boolean }

/** Entra does not have the parameter of RFC 9207. */
function withoutIssuer (answer: Response): Response {
  const location = answer.headers.get('location')
  if (location === null || !URL.canParse(location)) return answer
  const url = new URL(location)
  url.searchParams.delete('iss')
  const headers = new Headers(answer.headers)
  headers.set('location', url.href)
  return new Response(null, { status: answer.status, headers })
}

async function start (t: Test, tenant: string) {
  const service = await startProviderService(
    t, `admit: [{ claim: tid, anyOf: [${tenant}] }]\nscopes: { books:read: everyone }\n`,
    { behavesAs: 'entra', origin: ENTRA, scopes: ['trivet/.default'] }, {}, { signIn: COMMON }
  )
  routeTo(t, service.provider.origin)
  return service
}

t.test('a person of a tenant that is named comes in', async (t) => {
  const { enter } = await start(t, TENANT)
  const alice = { subject: `${COMMON}|${TENANT}|oid-alice`, scopes: ['books:read'] }
  t.strictSame(await enter('alice'), alice)
  t.strictSame(await enter('alice'), alice, 'with the metadata from before')
})

t.test('a person of another tenant stays out', async (t) => {
  const { enter, warnings } = await start(t, '99999999-2222-3333-4444-555555555555')
  t.match(await enter('alice'), { status: 403 })
  t.match(warnings.map(({ reason }) => String(reason)).join(), /the claim tid does not hold/)
})
