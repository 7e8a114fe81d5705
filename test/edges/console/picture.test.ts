// The picture of README.md and docs/console.md: a basket is filled in the console, and looked at with its
// screen. `npm run pictures` writes it.

import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { beginBasket, openConsole, selectKey, untilStatus } from './open-console.ts'

const PICTURE = new URL('../../../docs/console.png', import.meta.url)
const SIZE = { width: 1280, height: 800 }
/** The picture travels in the package. */
const MAX_BYTES = 200_000

t.test('the picture shows the bookshop, a form, an answer and its screen', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t)
  await page.setViewportSize(SIZE)
  await beginBasket(page)
  const basketId = await page.getByLabel('basketId').inputValue()
  t.match(basketId, /^bsk_/, 'the id of the answer is in the form')
  for (const [count, book] of ['moby-dick', 'a-christmas-carol'].entries()) {
    await page.getByLabel('bookId').fill(book)
    await page.keyboard.press('Control+Enter')
    await page.getByRole('tab', { name: `Last calls ${count + 2}` }).waitFor()
    await untilStatus(page, /done/)
  }
  await selectKey(page, 'tool:view_basket')
  await page.getByLabel('basketId').fill(basketId)
  await page.keyboard.press('Control+Enter')
  const screen = page.frameLocator('iframe').frameLocator('iframe')
  await screen.getByText('A Christmas Carol').waitFor()
  await screen.getByText('Moby-Dick', { exact: true }).waitFor()
  t.strictSame(problems, [])
  if (process.env.PICTURES === 'write') await writeFile(PICTURE, await page.screenshot())

  const bytes = await readFile(PICTURE)
  t.equal(bytes.toString('latin1', 1, 4), 'PNG')
  t.strictSame([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [SIZE.width, SIZE.height])
  t.ok(bytes.length < MAX_BYTES, `${bytes.length} bytes`)
})
