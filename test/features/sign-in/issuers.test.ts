// Answers that come from another server than they say: RFC 9207.

import t from 'tap'
import { createPerson } from '../../helpers/person.ts'
import {
  readMetadata, REDIRECT_URI, registerClient, startSignInService, toAuthorization
} from './sign-in-service.ts'

for (const [claim, iss] of [
  ['another issuer', 'https://login.evil.example'], ['no issuer', undefined], ['the service itself', 'own']
] as const) {
  t.test(`an answer of the identity provider that names ${claim} brings no code`, async (t) => {
    const { origin } = await startSignInService(t)
    const metadata = await readMetadata(origin)
    const { url } = toAuthorization(metadata, { clientId: await registerClient(metadata) })
    const person = createPerson()
    const back = await person.follow(url, `${origin}/sign-in/callback`)
    t.ok(back.url.searchParams.get('code'))
    back.url.searchParams.delete('iss')
    if (iss !== undefined) back.url.searchParams.set('iss', iss === 'own' ? origin : iss)
    const end = await person.follow(back.url, REDIRECT_URI)
    t.ok(end.url.href.startsWith(origin), end.url.href)
    t.ok(end.status >= 400, String(end.status))
    t.match(end.headers.get('content-type'), /^text\/html/)
  })
}
