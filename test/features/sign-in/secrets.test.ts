// No secret of a sign-in is where operators and strangers read: in the log, the metrics, spans and errors.

import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { buildMetered } from '../../helpers/admin.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { createPerson, type Person } from '../../helpers/person.ts'
import { recordSpans } from '../../helpers/recorded-spans.ts'
import { answer, beginFlow, open, signInThere } from './browser-flow.ts'
import {
  askForToken, callHello, HELLO, postForm, readMetadata, REDIRECT_URI, startProvider, toOptions
} from './sign-in-service.ts'

const SECRET = 'a secret that all replicas of the test have'

async function start (t: Test) {
  const issued: string[] = []
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const publicUrl = `${origin}/mcp`
  const provider = await startProvider(t, publicUrl, { onTokens: (tokens) => issued.push(...tokens) })
  const log = createReadableLog('trace')
  const spans = recordSpans()
  const { app, readMetrics } = await buildMetered(t, HELLO, {
    ...toOptions(publicUrl, provider), logger: log.logger, secrets: [SECRET]
  })
  await app.listen({ host: '127.0.0.1', port })
  return { origin, provider, issued, log, spans, readMetrics }
}

const cookiesOf = ({ jars }: Person, origin: string) => [...jars.get(origin)?.values() ?? []]

t.test('no secret of a sign-in is in the log, the metrics, a span or an error (273)', async (t) => {
  const { origin, provider, issued, log, spans, readMetrics } = await start(t)
  const metadata = await readMetadata(origin)
  const person = createPerson()
  const { url, clientId, toForm } = await beginFlow(origin)
  const allowed = await answer(person, await open(person, url), 'allow')
  const callback = await signInThere(person, allowed, `${origin}/sign-in/callback`)
  const cookies = cookiesOf(person, origin)
  const back = await person.follow(callback, REDIRECT_URI)
  const form = toForm(back.url)
  const { body } = await askForToken(metadata, form)
  const [token, refreshToken] = [String(body.access_token), String(body.refresh_token)]
  const refreshForm = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }
  t.equal((await callHello(`${origin}/mcp`, token)).status, 200)

  const refusals = [
    await callHello(`${origin}/mcp`, `${token}x`),
    await callHello(`${origin}/mcp?access_token=${token}`, 'none'),
    await askForToken(metadata, { ...refreshForm, client_id: `${clientId}x` }),
    await askForToken(metadata, { ...refreshForm, resource: 'https://other.example/mcp' }),
    await askForToken(metadata, form),
    await askForToken(metadata, refreshForm),
    await postForm(metadata.revocation_endpoint, { client_id: `${clientId}x`, token })
  ]
  for (const { status } of refusals) t.ok(status >= 400 && status < 500, String(status))
  await provider.stop()
  const pages = [await createPerson().visit(callback), await person.visit(callback)]
  for (const { status } of pages) t.ok(status >= 400, String(status))

  const texts = {
    log: log.text(),
    metrics: await readMetrics(),
    spans: inspect(spans.all().map(({ name, attributes, events, status }) => (
      { name, attributes, events, status }
    )), { depth: 9, maxArrayLength: null, maxStringLength: null }),
    errors: JSON.stringify([refusals, pages.map(({ text, headers }) => [text, ...headers])])
  }
  t.match(texts.spans, 'tools/call hello')
  t.match(texts.metrics, 'tools/call')
  const secrets = {
    'the code of the provider': callback.searchParams.get('code') ?? '',
    'the code of the service': form.code ?? '',
    'the verifier of the client': form.code_verifier ?? '',
    'the access token': token,
    'the refresh token': refreshToken,
    'the secret of the service at the provider': 'trivet-secret',
    'the secret of the replicas': SECRET,
    ...Object.fromEntries(issued.map((value, index) => [`token ${index} of the provider`, value])),
    ...Object.fromEntries(cookies.map((value, index) => [`cookie ${index}`, value]))
  }
  t.ok(issued.length >= 2)
  t.ok(cookies.length >= 2)
  for (const [name, secret] of Object.entries(secrets)) {
    t.ok(secret.length > 12, `${name}: ${secret.length}`)
    for (const [place, text] of Object.entries(texts)) t.notOk(text.includes(secret), `${name} is not in the ${place}`)
  }
})
