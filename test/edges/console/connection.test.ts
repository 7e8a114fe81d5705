// How the page keeps its connection: over restarts of the service, with tokens, and with notifications.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { hasChromium, openPage } from '../../browser/chromium.ts'
import { checkViews } from '../../browser/views.ts'
import { toolModule, writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startService } from '../../helpers/service.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { activityOf, beginBasket, openConsole, selectKey, untilStatus } from './open-console.ts'

/** Counts the frames of the page that are there at one time. */
const COUNT_FRAMES = `
  window.mostFrames = 1
  new MutationObserver(() => {
    mostFrames = Math.max(mostFrames, document.querySelectorAll('iframe').length)
  }).observe(document, { subtree: true, childList: true })`
const SLOW = { timeout: 240_000 }

t.test('the page goes on when the service starts again, as the same caller', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const catalog = await writeCatalog(t, {
    'tools/whoami.ts': toolModule('whoami', '', '(_, ctx) => "You are " + ctx.principal.subject')
  })
  const environment = { PORT: String(await findFreePort()), TRIVET_LOG_LEVEL: 'info' }
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
  const second = await startService(t, environment, { args: ['dev', catalog] })
  await page.getByText('● live').waitFor({ timeout: 60_000 })
  // The token of the first process is not valid any more.
  await call.click()
  await activityOf(page).getByRole('tab', { name: 'Last calls 2' }).waitFor()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'You are bob')
  await until(() => /tools\/call whoami/.test(second.stdout()), 'the line of the call')
  t.notMatch(second.stdout(), /\b401\b/, 'it was not sent')
})

t.test('a catalog that does not load at the start is shown once it is mended', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const catalog = await writeCatalog(t, { 'tools/a.ts': 'export default 5 +\n' })
  const { url } = await startService(t, {}, { args: ['dev', catalog] })
  const page = await openPage(t)
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.goto(new URL('/', url).href)
  const lists = page.getByRole('navigation', { name: 'Catalog' })
  await lists.getByRole('alert').getByText('tools/a.ts').waitFor()
  await checkViews(t, page, 'console-never-loaded')
  await page.setViewportSize({ width: 1280, height: 844 })
  await writeInPlace(catalog, 'tools/a.ts', toolModule('a'))
  await lists.getByRole('link', { name: 'a' }).waitFor({ timeout: 60_000 })
  await lists.getByRole('alert').waitFor({ state: 'detached' })
})

t.test('a service that checks tokens gets the token of the person', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const catalog = await writeCatalog(t, {
    'tools/whoami.ts': toolModule('whoami', '', '(_, ctx) => "You are " + ctx.principal.subject'),
    'tools/scoped.ts': toolModule('scoped', "scopes: ['more']"),
    'tools/work.ts': toolModule('work', "task: 'required'", `async (_, ctx) => {
      await ctx.step('draft', () => 'a draft')
      await ctx.step('check', () => { throw new Error('a cause') }).catch(() => {})
      return 'worked'
    }`)
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
  t.notMatch(await catalogLists.innerText(), 'Not seen', 'nothing is known of the lists')
  await page.locator('.caller summary').click()
  await page.getByLabel('Access token').fill(token)
  await page.keyboard.press('Enter')
  await catalogLists.getByRole('link', { name: 'whoami' }).waitFor()
  await page.keyboard.press('Escape')
  await selectKey(page, 'tool:whoami')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'You are ada')
  await catalogLists.getByText('Not seen by this caller 1').waitFor()
  await selectKey(page, 'tool:work')
  await page.getByRole('main').getByRole('heading', { name: 'work', level: 2 }).waitFor()
  await page.keyboard.press('Control+Enter')
  await activityOf(page).getByText('worked').first().waitFor()
  const journal = activityOf(page).getByRole('region', { name: 'Journal' })
  t.match(await journal.innerText(), /step\s+draft\s+done\s+step\s+check\s+failed/, 'without values')
  await page.reload()
  await catalogLists.getByRole('alert').waitFor()
  t.notMatch(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'), token)
})

t.test('an open form follows its schema, and keeps what was typed', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const toTool = (properties: object) => `import { defineTool } from 'trivet'
export default defineTool({ name: 'form', description: 'A form.',
  inputSchema: ${JSON.stringify({ type: 'object', properties })}, run: (args) => args })
`
  const [first, size] = [{ type: 'string', maxLength: 9 }, { type: 'integer', default: 1 }]
  const files = { 'tools/form.ts': toTool({ first, size }) }
  const { page, root, problems } = await openConsole(t, { files })
  const main = page.getByRole('main')
  await selectKey(page, 'tool:form')
  await writeInPlace(root, 'tools/form.ts', toTool({ first, size: { ...size, default: 2 } }))
  const untouched = async () => await main.getByLabel('size').inputValue() === '2'
  await until(untouched, 'the new default in a form that nobody has touched', 20_000)
  await main.getByLabel('first').fill('typed')
  await writeInPlace(root, 'tools/form.ts', toTool({ first, second: first }))
  await main.getByLabel('second').waitFor()
  t.equal(await main.getByLabel('first').inputValue(), 'typed')
  await main.getByText('size is not in the schema').waitFor()
  await main.getByRole('button', { name: 'Remove size' }).click()
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).locator('.structured').innerText(), /first\s+typed/)
  t.strictSame(problems, [])
})

t.test('a watched resource tells of its change', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t)
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await beginBasket(page)
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

t.test('a screen changes when its author saves it', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, root, problems } = await openConsole(t)
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await selectKey(page, 'tool:create_basket')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  await activity.getByRole('button', { name: 'view_basket' }).click()
  await main.getByRole('heading', { name: 'View a basket' }).waitFor()
  await page.keyboard.press('Control+Enter')
  const screen = page.frameLocator('iframe').frameLocator('iframe')
  await screen.getByRole('heading', { name: 'Your basket' }).waitFor()
  await checkViews(t, page, 'console-screen')
  // A frame that is removed breaks off what waits in it.
  const untilShown = async (name: string) => await until(
    async () => await screen.getByRole('heading', { name }).isVisible().catch(() => false), name, 60_000
  )
  const path = 'apps/basket/index.html'
  const html = await readFile(join(root, path), 'utf8')
  await page.evaluate(COUNT_FRAMES)
  await writeInPlace(root, path, html.replace('Your basket', 'Your trolley'))
  await untilShown('Your trolley')
  await writeInPlace(root, path, '<!doctype html><title>Basket</title><h1>A draft</h1>')
  await untilShown('A draft')
  // The draft does not initialise. The next screen does not wait for it.
  await writeInPlace(root, path, html.replace('Your basket', 'Your cart'))
  await untilShown('Your cart')
  t.equal(await page.evaluate('mostFrames'), 1)
  t.equal(await main.getByText('The screen cannot be shown').count(), 0)
  t.strictSame(problems, [])
})
