// A sign-in at an identity server that others wrote.

import t from 'tap'
import { createPerson } from '../../../helpers/person.ts'
import { hasGlewlwyd, startGlewlwyd } from '../../../servers/glewlwyd.ts'
import { askForToken, callHello, HELLO, signIn, startServiceAt } from '../sign-in-service.ts'

t.test('glewlwyd: a person signs in, has the scopes of a claim, and stays', async (t) => {
  if (!hasGlewlwyd(t)) return
  const { origin, provider } = await startServiceAt(
    t,
    async (publicUrl) => await startGlewlwyd(t, new URL('sign-in/callback', publicUrl).href),
    {},
    {
      ...HELLO,
      'sign-in.yaml': 'admit: [{ claim: department, anyOf: [Books] }]\nscopes: { books:read: everyone }\n'
    }
  )
  const browser = createPerson()
  const person = {
    ...browser,
    async follow (url: URL, until: string) {
      const { url: atProvider } = await browser.follow(url, provider.origin)
      return await browser.follow(await provider.signIn(atProvider), until)
    }
  }
  const { metadata, clientId, status, body } = await signIn(origin, { scope: 'books:read', person })
  t.equal(status, 200, JSON.stringify(body))
  const called = await callHello(`${origin}/mcp`, body.access_token)
  t.match(called.body, /books:read/)
  t.match(called.body, `${provider.issuer}|`)
  const renewed = await askForToken(metadata, {
    grant_type: 'refresh_token', client_id: clientId, refresh_token: String(body.refresh_token)
  })
  t.equal(renewed.status, 200, JSON.stringify(renewed.body))
})
