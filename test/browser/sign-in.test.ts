// A person who signs in with Chromium: the consent, the identity provider, and the page of connections.

import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { beginFlow, type FlowOptions } from '../features/sign-in/browser-flow.ts'
import { askForToken, readMetadata, startSignInService } from '../features/sign-in/sign-in-service.ts'
import type { Files } from '../helpers/catalog-folder.ts'
import { hasChromium, openPage } from './chromium.ts'
import { checkViews } from './views.ts'

/** The client's end of a flow: a page that has what it was sent. */
async function startClient (t: Test): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><link rel="icon" href="data:,"><title>Back</title><h1>Back</h1>')
  }).listen(0, '127.0.0.1')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/back`
}

async function openBrowser (t: Test, options: FlowOptions = {}, files?: Files) {
  const service = await startSignInService(t, {}, files)
  const redirectUri = await startClient(t)
  const page = await openPage(t)
  const problems: string[] = []
  page.on('console', (message) => {
    const isOfService = message.location().url.startsWith(service.origin)
    if (message.type() === 'error' && isOfService) problems.push(message.text())
  })
  const begin = async (more: FlowOptions = {}) => (
    await beginFlow(service.origin, { clientName: 'Claude', redirectUri, ...options, ...more })
  )
  return { ...service, redirectUri, page, problems, begin }
}

/** Fills in the form of the identity provider. */
async function signInThere (page: Page, name = 'alice'): Promise<void> {
  const login = page.locator('input[name="login"]')
  const consent = page.locator('input[name="prompt"][value="consent"]')
  await login.or(consent).first().waitFor({ state: 'attached' })
  if (await login.count() > 0) {
    await login.fill(name)
    await page.locator('input[name="password"]').fill('any')
    await page.locator('button[type="submit"]').click()
    await consent.waitFor({ state: 'attached' })
  }
  await page.locator('button[type="submit"]').click()
}

const allow = async (page: Page) => await page.getByRole('button', { name: 'Allow' }).click()
const untilBack = async (page: Page) => await page.getByRole('heading', { name: 'Back' }).waitFor()

t.test('a person allows, signs in, and is back at the client', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, origin, begin, problems } = await openBrowser(t)
  const { url, toForm } = await begin()
  t.equal((await page.goto(url.href))?.status(), 200)
  await page.getByRole('heading', { name: 'Allow Claude to use' }).waitFor()
  await checkViews(t, page, 'consent')
  const consentUrl = page.url()
  await allow(page)
  await signInThere(page)
  await untilBack(page)
  const { status } = await askForToken(await readMetadata(origin), toForm(new URL(page.url())))
  t.equal(status, 200)

  t.strictSame(problems, [])

  t.equal((await page.goto(consentUrl))?.status(), 400)
  await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()
  await checkViews(t, page, 'lost')
})

t.test('a person cancels', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin, problems } = await openBrowser(t)
  await page.goto((await begin()).url.href)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await untilBack(page)
  t.match(page.url(), 'error=access_denied')
  t.strictSame(problems, [])
})

t.test('a person goes back from the provider, and allows again', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin, problems } = await openBrowser(t)
  await page.goto((await begin()).url.href)
  await allow(page)
  await page.locator('input[name="login"]').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  await allow(page)
  await signInThere(page)
  await untilBack(page)
  t.match(page.url(), 'code=')
  t.strictSame(problems, [])
})

t.test('two tabs sign in at once', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin } = await openBrowser(t)
  const second = await page.context().newPage()
  await page.goto((await begin()).url.href)
  await second.goto((await begin({ clientName: 'Cursor' })).url.href)
  await second.getByRole('heading', { name: 'Allow Cursor to use' }).waitFor()
  await allow(page)
  await page.locator('input[name="login"]').waitFor()
  await allow(second)
  await signInThere(second)
  await untilBack(second)
  await page.reload()
  await signInThere(page)
  await untilBack(page)
  for (const tab of [page, second]) t.match(tab.url(), 'code=')
})

t.test('the keyboard is enough', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin } = await openBrowser(t)
  await page.goto((await begin()).url.href)
  const focused = async () => await page.evaluate('document.activeElement.textContent')
  const order: unknown[] = []
  for (let press = 0; press < 3; press++) {
    await page.keyboard.press('Tab')
    order.push(await focused())
  }
  t.strictSame(order, ['your connections', 'Allow', 'Cancel'])
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.locator('input[name="login"]').waitFor()
})

t.test('a client in a window of its own stays its opener', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin, redirectUri } = await openBrowser(t)
  await page.goto(redirectUri)
  const { url } = await begin()
  const opening = page.waitForEvent('popup')
  await page.evaluate(`window.open(${JSON.stringify(url.href)})`)
  const popup = await opening
  await allow(popup)
  await signInThere(popup)
  await untilBack(popup)
  t.equal(await popup.evaluate('window.opener !== null'), true)
})

t.test('a person sees what is connected, and ends it', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, origin, begin, problems } = await openBrowser(t)
  for (const clientName of ['Claude', 'Сlaude\u200b', 'Visual Studio Code']) {
    await page.goto((await begin({ clientName })).url.href)
    await allow(page)
    await signInThere(page)
    await untilBack(page)
  }
  await page.goto(`${origin}/sign-in`)
  await checkViews(t, page, 'signed-out')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await signInThere(page)
  await page.getByText('You are signed in as').waitFor()
  await checkViews(t, page, 'connections')
  await page.getByRole('button', { name: 'End Visual Studio Code' }).click()
  await page.getByRole('row').nth(2).waitFor()
  t.equal(await page.getByRole('row').count(), 3)
  await page.getByRole('button', { name: 'End all' }).click()
  await page.getByText('No assistant is connected.').waitFor()
  await checkViews(t, page, 'no-connections')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  t.strictSame(problems, [])
})

t.test('a consent for a site is remembered', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const [clientId, redirectUri] = ['https://client.example/oauth.json', 'https://client.example/back']
  const document = { client_id: clientId, client_name: 'Example', redirect_uris: [redirectUri] }
  const { page, begin } = await openBrowser(t, { clientId, redirectUri }, {
    'server.yaml': 'title: Books\nscopes: [{ name: "books:read", description: Read all books }]',
    'sign-in.yaml': `clients: { documents: { "${clientId}": client.json } }
scopes: { "books:read": everyone }`,
    'client.json': JSON.stringify(document)
  })
  await page.route('https://client.example/**', async (route) => await route.fulfill({
    contentType: 'text/html', body: '<!doctype html><title>Back</title><h1>Back</h1>'
  }))
  const params = { scope: 'books:read' }
  await page.goto((await begin({ params })).url.href)
  await page.getByText('Read all books').waitFor()
  await checkViews(t, page, 'consent-site')
  await allow(page)
  await signInThere(page)
  await untilBack(page)
  // As a link of the client's site leads here.
  await page.evaluate(`location.href = ${JSON.stringify((await begin({ params })).url.href)}`)
  await signInThere(page)
  await untilBack(page)
  t.match(page.url(), 'code=')
})

t.test('what goes wrong has a page', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin, provider, origin } = await openBrowser(t)
  await page.goto((await begin()).url.href)
  await allow(page)
  await page.locator('input[name="login"]').waitFor()
  const state = (await page.context().cookies()).find(({ name }) => name.startsWith('sign-in-way-'))?.name
    .slice('sign-in-way-'.length) ?? ''
  const answer = new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer })
  t.equal((await page.goto(`${origin}/sign-in/callback?${answer}`))?.status(), 403)
  await checkViews(t, page, 'refused')
  await page.getByRole('link', { name: 'Try again' }).click()
  await allow(page)
  await page.locator('input[name="login"]').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Allow' }).waitFor()

  await page.context().clearCookies({ name: /sign-in-flow/ })
  await allow(page)
  await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()

  const { url } = await begin()
  url.searchParams.set('redirect_uri', 'https://evil.example')
  t.equal((await page.goto(url.href))?.status(), 400)
  await checkViews(t, page, 'failed')
  const again = (await begin()).url
  again.searchParams.set('begins_again', 'change')
  await page.goto(again.href)
  await page.getByText('Something on this page has changed since it was shown').waitFor()
  await checkViews(t, page, 'again')
})

t.test('a provider that is away has a page', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, provider, origin } = await openBrowser(t)
  await page.goto(`${origin}/sign-in`)
  await provider.stop()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Signing in does not work at the moment' }).waitFor()
  await checkViews(t, page, 'unavailable')
  await provider.start()
  t.equal((await page.reload())?.status() === 403, false, 'the page can be loaded again')
})

t.test('the page of a name that hides something', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin } = await openBrowser(t)
  const clientName = `\u202eСlaude${'x'.repeat(200)}`
  await page.goto((await begin({ clientName })).url.href)
  await page.getByText('letters that may look like others').waitFor()
  await checkViews(t, page, 'look-alike')
})

t.test('no other origin can send the form, not even with its token', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin, redirectUri } = await openBrowser(t)
  await page.goto((await begin()).url.href)
  const token = await page.locator('input[name="token"]').inputValue()
  const attacker = await page.context().newPage()
  // Another port is another origin of the same site: the browser sends the cookies.
  await attacker.goto(redirectUri)
  await attacker.evaluate(`(() => {
    const form = Object.assign(document.createElement('form'), { method: 'post', action: ${JSON.stringify(page.url())} })
    for (const [name, value] of Object.entries({ answer: 'allow', token: ${JSON.stringify(token)} })) {
      form.append(Object.assign(document.createElement('input'), { name, value }))
    }
    document.body.append(form)
    form.submit()
  })()`)
  await attacker.getByText('The form is one of another site').waitFor()
  await allow(page)
  await page.locator('input[name="login"]').waitFor()
})

t.test('no other site can show a page', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, begin, redirectUri, origin } = await openBrowser(t)
  const { url } = await begin()
  await page.goto(redirectUri)
  for (const address of [url.href, `${origin}/sign-in`]) {
    const blocked = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), {
      src: ${JSON.stringify(address)}
    }))`)
    t.match((await blocked).text(), "frame-ancestors 'none'")
  }
})
