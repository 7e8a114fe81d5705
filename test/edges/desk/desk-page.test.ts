// The desk in Chromium: the console of a service that checks tokens, and the page on which somebody signs in.

import t from 'tap'
import { hasChromium, openPage } from '../../browser/chromium.ts'
import { checkViews } from '../../browser/views.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { activityOf, openConsole, selectKey, startConsole, untilStatus } from '../console/open-console.ts'

const FILES = {
  'server.yaml': 'name: office\nversion: 2.0.0\n',
  'tools/whoami.ts': toolModule('whoami', '', "(_, { principal }) => 'it is ' + principal.subject"),
  'tools/pay.ts': toolModule('pay', "scopes: ['money:write']", '() => "paid"')
}
const SLOW = { timeout: 240_000 }

t.test('the console calls with tokens of the desk, and as the caller that is picked', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, {
    files: FILES,
    args: ['--subject', 'ann'],
    env: { TRIVET_AUTH: 'jwt', PORT: String(await findFreePort()) }
  })
  const catalog = page.getByRole('navigation', { name: 'Catalog' })
  t.match(await page.locator('.caller summary').innerText(), 'ann, no scopes')
  await selectKey(page, 'tool:whoami')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'it is ann')
  t.equal(await catalog.getByRole('link', { name: 'pay' }).count(), 0)

  await page.locator('.caller summary').click()
  t.match(await page.locator('.caller').innerText(), /desk of dev/)
  await page.getByLabel('Subject').fill('bob')
  await page.getByLabel('money:write').check()
  await checkViews(t, page, 'console-desk')
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.getByRole('button', { name: 'Call as this caller' }).click()
  await catalog.getByRole('link', { name: 'pay' }).waitFor()
  await selectKey(page, 'tool:whoami')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'it is bob')
  t.strictSame(problems, [])
})

t.test('the page of the desk asks who signs in', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { url } = await startConsole(t, {
    files: FILES,
    args: ['--subject', 'ann'],
    env: { TRIVET_AUTH: 'sign-in', PORT: String(await findFreePort()) }
  })
  const page = await openPage(t)
  await page.goto(`${url}dev/sign-in?state=a&nonce=b`)
  t.equal(await page.getByLabel('Subject').inputValue(), 'ann')
  await checkViews(t, page, 'desk')
  await page.getByLabel(/^Claims/).fill('{')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  t.match(await page.getByRole('alert').innerText(), 'Claims are JSON')
  await checkViews(t, page, 'desk-problem')
  await page.getByLabel(/^Claims/).fill('{"groups":["editors"]}')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(/\/sign-in\/callback\?state=a&code=/)
})
