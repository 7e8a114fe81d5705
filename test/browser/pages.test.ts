// The pages that people see in a browser: at the endpoint, at links to files, and at the admin address.

import { rm } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { createService, type AppOptions } from '../../src/app/app.ts'
import { createLoadGuard } from '../../src/catalog/compiled/load-guard.ts'
import { call, FILES, linkIn, pageIn } from '../features/files/file-tools.ts'
import { listen } from '../helpers/app.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { QUIET } from '../helpers/quiet-options.ts'
import { send } from '../helpers/request.ts'
import { hasChromium, openPage } from './chromium.ts'
import { checkViews } from './views.ts'

const CATALOG = {
  ...FILES,
  'tools/a.ts': toolModule('find_the_orders_of_a_customer'),
  'tools/b.ts': toolModule('broken', '', "() => { throw new Error('it broke') }"),
  'tools/c.ts': toolModule('rare', 'limits: { calls: \'1/1h\' }')
}

/** Opens a service with an admin address, and a page of Chromium. */
async function openBrowser (t: Test, options: AppOptions = {}) {
  const [catalog, state] = [await writeCatalog(t, CATALOG), await makeFolder(t)]
  const own = { guard: createLoadGuard(), build: { version: '1.2.3', node: '20.19.0' } }
  const stateUrl = `file:${state}`
  const { app, admin, close } = await createService({ catalog, ...QUIET, stateUrl, ...options }, own)
  t.teardown(close)
  const url = await listen(app)
  const adminUrl = await admin?.listen({ host: '127.0.0.1', port: 0 }) ?? ''
  const page = await openPage(t)
  return { app, url, adminUrl, page, state }
}

t.test('a browser at the endpoint reads how to connect', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { url, page } = await openBrowser(t)
  for (const address of [url, new URL('/', url).href]) {
    t.equal((await page.goto(address))?.status(), 200)
    t.equal(await page.locator('pre').first().innerText(), url)
  }
  await checkViews(t, page, 'welcome')
})

t.test('a person sends a file, first one of another type', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { app, page } = await openBrowser(t)
  const message = 'The orders of May, as the accounting program exports them.'
  const accept = ['.csv', 'image/*', 'application/pdf']
  await page.goto(pageIn(await call(app, 'take', { message, accept, maxBytes: 2_000_000 })))
  t.match(await page.locator('body').innerText(), 'CSV files, pictures or PDF files, up to 2 MB.')
  await checkViews(t, page, 'upload')

  const choose = async (name: string, mimeType: string) => {
    await page.locator('input').setInputFiles({ name, mimeType, buffer: Buffer.from('a,b\n') })
    await page.getByRole('button', { name: 'Send' }).click()
  }
  await choose('a.zip', 'application/zip')
  await page.getByRole('heading', { name: 'Not this type' }).waitFor()
  await checkViews(t, page, 'wrong-type')
  await page.getByRole('link', { name: 'Choose another file' }).click()
  await choose('a.csv', 'text/csv')
  await page.getByRole('heading', { name: 'File received' }).waitFor()
  await checkViews(t, page, 'received')
})

t.test('a dead link is a page for a browser, and a line for a program', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { app, page } = await openBrowser(t)
  const link = linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' }))
  const dead = link.replace(/.{4}$/, 'AAAA')
  t.equal((await page.goto(dead))?.status(), 404)
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
  await checkViews(t, page, 'dead-link')
  t.match((await fetch(dead)).headers.get('content-type'), /^text\/plain/)
})

t.test('the admin address has a page of what is well, and what is not', { timeout: 120_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { app, adminUrl, page, state } = await openBrowser(t)
  for (const name of ['find_the_orders_of_a_customer', 'broken', 'rare', 'rare', 'none']) {
    await send(app, { method: 'tools/call', params: { name } })
  }
  await send(app, { method: 'tools/list' })
  await app.inject('/nothing')
  await page.goto(`${adminUrl}/`)
  await page.getByRole('heading', { name: 'Ready', exact: true }).waitFor()
  // The page has a link to one that does not reload.
  await checkViews(t, page, 'status', { exceptions: ['meta-refresh'] })

  await rm(state, { recursive: true })
  await page.getByRole('heading', { name: 'Not ready', exact: true }).waitFor({ timeout: 30_000 })
  await page.getByRole('link', { name: 'stop that' }).click()
  await page.getByRole('link', { name: 'Reload every 10 seconds' }).waitFor()
  t.match(await page.locator('body').innerText(), /state store is not ready: .*docs\/troubleshooting\.md/)
  await checkViews(t, page, 'status-unready')
})
