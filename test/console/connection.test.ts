// How the page keeps its connection: over restarts of the service, with tokens, and with notifications.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createStaticToken } from '../../src/access/static-token-file.ts'
import { hasChromium, openPage } from '../browser/chromium.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { startService } from '../helpers/service.ts'
import { findFreePort } from '../servers/redis-server.ts'
import { activityOf, openConsole, selectKey, untilStatus } from './open-console.ts'

const SLOW = { timeout: 240_000 }

t.test('the page goes on when the service starts again, as the same caller', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const catalog = await writeCatalog(t, {
    'tools/whoami.ts': toolModule('whoami', '', '(_, ctx) => "You are " + ctx.principal.subject')
  })
  const environment = { PORT: String(await findFreePort()) }
  const first = await startService(t, environment, { args: ['dev', catalog] })
  const page = await openPage(t)
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.goto(new URL('/', first.url).href)
  await page.getByText('● live').waitFor()
  await page.locator('.caller summary').click()
  await page.getByLabel('Subject').fill('bob')
  await page.getByRole('button', { name: 'Call as this caller' }).click()
  await selectKey(page, 'tool:whoami')
  const call = page.getByRole('main').getByRole('button', { name: 'Call', exact: true })
  await call.click()
  await activityOf(page).getByText('You are bob').waitFor()

  await first.stop()
  await page.getByText('● The service does not answer').waitFor()
  await startService(t, environment, { args: ['dev', catalog] })
  await page.getByText('● live').waitFor({ timeout: 60_000 })
  // The token of the first process is not valid any more.
  await call.click()
  await activityOf(page).getByRole('tab', { name: 'Last calls 2' }).waitFor()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'You are bob')
})

t.test('a service that checks tokens gets the token of the person', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const catalog = await writeCatalog(t, {
    'tools/whoami.ts': toolModule('whoami', '', '(_, ctx) => "You are " + ctx.principal.subject')
  })
  const file = join(await makeFolder(t), 'tokens.yaml')
  const expiresAt = new Date('2100-01-01T00:00:00Z')
  const { token, entry } = createStaticToken({ subject: 'ada', scopes: [], expiresAt })
  await writeFile(file, `${entry}\n`)
  const environment = { TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: file }
  const { url } = await startService(t, environment, { args: ['dev', catalog] })
  const page = await openPage(t)
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.goto(new URL('/', url).href)
  const catalogLists = page.getByRole('navigation', { name: 'Catalog' })
  await catalogLists.getByRole('alert').waitFor()
  await page.locator('.caller summary').click()
  await page.getByLabel('Access token').fill(token)
  await page.keyboard.press('Enter')
  await catalogLists.getByRole('link', { name: 'whoami' }).waitFor()
  await page.keyboard.press('Escape')
  await selectKey(page, 'tool:whoami')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'You are ada')
  await page.reload()
  await catalogLists.getByRole('alert').waitFor()
  t.notMatch(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'), token)
})

t.test('a watched resource tells of its change', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t)
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await selectKey(page, 'tool:create_basket')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  await activity.getByRole('button', { name: 'add_to_basket' }).click()
  const basketId = await main.getByLabel('basketId').inputValue()
  await main.getByLabel('bookId').fill('moby-dick')

  await selectKey(page, 'template:basket://{id}')
  await main.getByLabel('id').fill(basketId)
  await main.getByLabel('Tell of changes').check()
  await page.getByText('● live').waitFor()
  await selectKey(page, 'tool:add_to_basket')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  await activity.getByRole('tab', { name: /Notifications/ }).click()
  await activity.getByText(`{"uri":"basket://${basketId}"}`).waitFor()
  t.strictSame(problems, [])
})
