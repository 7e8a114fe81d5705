// The page of the console in Chromium, over the bookshop.

import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { checkViews } from '../../browser/views.ts'
import { writeInPlace } from '../../helpers/catalog-folder.ts'
import { activityOf, beginBasket, openConsole, selectKey, startConsole, untilStatus } from './open-console.ts'

const DIST = fileURLToPath(new URL('../../../dist/console', import.meta.url))

/** All that a browser loads, before compression. */
const MOST_BYTES = 200_000

const SMALL_TARGETS = `[...document.querySelectorAll('button:not(.skip), input, select, textarea, summary, .entries a')]
  .filter((one) => one.checkVisibility() && (one.closest('label.inline') ?? one).offsetHeight < 44)
  .map((one) => one.outerHTML.slice(0, 80))`

const SLOW = { timeout: 240_000 }

const started = await startConsole(t)

t.test('the files of the page stay small', async (t) => {
  const names = await readdir(DIST)
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(DIST, name))).size))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  t.ok(names.includes('index.html'))
  t.ok(bytes <= MOST_BYTES, `${bytes} bytes in ${names.join(', ')}`)
})

t.test('a tool is found, called and called again', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const catalog = page.getByRole('navigation', { name: 'Catalog' })
  await checkViews(t, page, 'console-start')
  await page.setViewportSize({ width: 1280, height: 844 })

  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  t.equal(await page.evaluate('document.activeElement.id'), 'main', 'the first stop skips the lists')
  await page.keyboard.press('/')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  t.equal(await page.evaluate('document.activeElement.querySelector(".name").textContent'), 'get_book')
  await page.keyboard.press('/')
  await page.keyboard.type('search')
  t.strictSame(await catalog.getByRole('link').locator('.title').allInnerTexts(), ['Search the books'])
  await page.keyboard.press('Enter')
  const main = page.getByRole('main')
  await main.getByRole('heading', { name: 'Search the books' }).waitFor()
  t.match(page.url(), /#tool%3Asearch_books$/, 'the fragment names what is selected')
  t.equal(await main.getByLabel('limit').inputValue(), '5', 'a default is filled in')

  await page.waitForSelector('[id="f.query"]:focus')
  await page.keyboard.type('Austen')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  await activityOf(page).getByRole('table').first().waitFor()
  t.match(await activityOf(page).getByRole('table').first().innerText(), 'Pride and Prejudice')
  await checkViews(t, page, 'console-tool')
  // The last view was that of a phone.
  t.strictSame(await page.evaluate(SMALL_TARGETS), [], 'a finger hits what can be pressed')
  await page.setViewportSize({ width: 1280, height: 844 })

  await main.getByRole('tab', { name: 'JSON' }).click()
  await main.getByLabel('Arguments as JSON').fill('{"query":"whale","limit":1}')
  await main.getByRole('tab', { name: 'Form' }).click()
  t.equal(await main.getByLabel('query').inputValue(), 'whale', 'the two tabs have one value')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await activityOf(page).getByRole('table').first().getByText('Moby-Dick', { exact: true }).waitFor()

  await page.reload()
  await main.getByRole('heading', { name: 'Search the books' }).waitFor()
  await activityOf(page).getByRole('tab', { name: /Last calls/ }).click()
  await activityOf(page).getByRole('listitem').nth(1).waitFor()
  await checkViews(t, page, 'console-last-calls')
  await page.setViewportSize({ width: 1280, height: 844 })
  await activityOf(page).getByRole('button', { name: 'Repeat' }).last().click()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).getByRole('table').first().innerText(), 'Pride and Prejudice')
  t.strictSame(problems, [])
})

t.test('nested arguments are filled in, and one travels in a header too', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  await selectKey(page, 'tool:quote_shipping')
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await main.getByLabel('region').selectOption('eu')
  await main.locator('[id="f.items.0.bookId"]').fill('moby-dick')
  await main.locator('[id="f.items.0.quantity"]').fill('2')
  await main.getByRole('button', { name: 'Add an item to items' }).click()
  await main.getByRole('button', { name: 'Remove items 2' }).click()
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  t.match(await activity.locator('.structured').innerText(), /weightGrams\s+\d+/)
  await activity.getByRole('tab', { name: 'curl' }).click()
  t.match(await activity.getByRole('group', { name: /curl/ }).innerText(), "-H 'mcp-param-region: eu'")
  t.strictSame(problems, [])
})

t.test('the curl command does what the page did', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page } = await openConsole(t, started)
  await selectKey(page, 'tool:search_books')
  await page.getByRole('main').getByLabel('query').fill("the whale's tale")
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  await activityOf(page).getByRole('tab', { name: 'curl' }).click()
  const command = await activityOf(page).getByRole('group', { name: /curl/ }).innerText()
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  t.match(stdout, /"structuredContent":\{"found":\d+/)
})

t.test('a handle goes into the next form, and a question is answered in place', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await beginBasket(page)
  await main.getByRole('heading', { name: 'Add to a basket' }).waitFor()
  t.not(await main.getByLabel('basketId').inputValue(), '')
  await main.getByLabel('bookId').fill('moby-dick')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)

  await selectKey(page, 'tool:checkout')
  const basketId = await page.locator('datalist option').first().getAttribute('value') ?? ''
  await main.getByLabel('basketId').fill(basketId)
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^asks you/)
  await activity.getByText('Order 1 x Moby').waitFor()
  await checkViews(t, page, 'console-question')
  await page.setViewportSize({ width: 1280, height: 844 })
  await activity.getByLabel('Yes, order this').check()
  await activity.getByRole('button', { name: 'Accept' }).click()
  await untilStatus(page, /^done in/)
  t.match(await activity.locator('.structured').innerText(), /ordered\s+true/)
  t.strictSame(problems, [])
})

t.test('arguments of prompts and templates are completed as one types', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  const main = page.getByRole('main')
  await selectKey(page, 'prompt:recommend_a_book')
  await main.getByLabel('mood').pressSequentially('advent')
  await page.locator('option[value=adventurous]:only-child').waitFor({ state: 'attached' })
  await main.getByLabel('mood').fill('adventurous')
  await main.getByLabel('length').fill('short')
  await main.getByRole('button', { name: 'Get' }).click()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), 'I would like to feel adventurous')
  await checkViews(t, page, 'console-prompt')
  await page.setViewportSize({ width: 1280, height: 844 })

  await selectKey(page, 'template:book://{id}')
  await main.getByLabel('id').pressSequentially('moby')
  await page.locator('option[value=moby-dick]:only-child').waitFor({ state: 'attached' })
  await main.getByLabel('id').fill('moby-dick')
  await main.getByRole('button', { name: 'Read' }).click()
  await untilStatus(page, /^done in/)
  t.match(await activityOf(page).innerText(), '"title": "Moby')
  t.strictSame(problems, [])
})

t.test('progress and log lines come while a call runs, and Cancel ends it', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, started)
  await selectKey(page, 'tool:build_reading_list')
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  await main.getByLabel('topic').fill('English')
  await main.getByLabel('count').fill('12')
  await main.getByRole('button', { name: 'Call', exact: true }).click()
  await activity.getByText(/^\d+ of \d+$/).waitFor()
  await activity.getByRole('listitem').filter({ hasText: 'book placed' }).first().waitFor()
  await activity.getByRole('button', { name: 'Cancel' }).click()
  await untilStatus(page, /^cancelled/)
  t.strictSame(problems, [])
})

t.test('a load that fails is shown with its file, and what was typed stays', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, root } = await openConsole(t)
  await selectKey(page, 'tool:search_books')
  await page.getByRole('main').getByLabel('query').fill('typed before')
  await writeInPlace(root, 'tools/broken.ts', 'export default 5 +\n')
  const failure = page.getByRole('alert').filter({ hasText: 'The last load failed' })
  await failure.waitFor()
  t.match(await failure.innerText(), /tools\/broken\.ts/)
  t.equal(await page.locator('.health .bad').innerText(), '● last load failed')
  await checkViews(t, page, 'console-failed-load')
  t.equal(await failure.isVisible(), true, 'on a phone too, whose lists are closed')
  await page.setViewportSize({ width: 1280, height: 844 })
  await writeInPlace(root, 'tools/broken.ts', "import { defineTool } from 'trivet'\n" +
    "export default defineTool({ name: 'mended', description: 'A tool.', run: () => 'ok' })\n")
  await failure.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'mended' }).waitFor()
  t.equal(await page.getByRole('main').getByLabel('query').inputValue(), 'typed before')
})
