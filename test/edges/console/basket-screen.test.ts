// The screen of the bookshop's basket, in the bridge and the sandbox of the console.

import { cp } from 'node:fs/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t from 'tap'
import { hasChromium, openPage } from '../../browser/chromium.ts'
import { checkFrame, forEachView, keepPicture } from '../../browser/views.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startService } from '../../helpers/service.ts'
import { openScreenPage } from './screen-page.ts'

async function createBasket (url: string): Promise<string> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { structuredContent } = await client.callTool({ name: 'create_basket', arguments: {} })
  await client.close()
  return (structuredContent as { basketId: string }).basketId
}

t.test('a person fills a basket and orders it on its screen', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const root = await makeFolder(t)
  await cp(new URL('../../../catalog', import.meta.url), root, { recursive: true })
  const { page, service, seen, show, problems } = await openScreenPage(t, root)
  const basketId = await createBasket(service)
  const frame = await show('view_basket', { basketId })
  await frame.getByText('There is nothing in it yet.').waitFor()

  await frame.getByRole('searchbox').fill('whale')
  await frame.getByRole('button', { name: 'Find' }).click()
  await frame.getByRole('button', { name: 'Add Moby-Dick' }).click()
  const lines = frame.getByRole('list', { name: 'Books in the basket' }).getByRole('listitem')
  await lines.getByText('1 copy').waitFor()
  await until(async () => (await seen()).contexts.length > 0, 'the context')
  t.match((await seen()).contexts.at(-1), `The customer changed the basket ${basketId}: 1 x Moby-Dick.`)

  await forEachView(page, async (theme, device) => {
    await page.emulateMedia({ colorScheme: theme })
    await page.evaluate(`screenHandle.setTheme('${theme}')`)
    await frame.locator(`html[style*="${theme}"]`).waitFor()
    await checkFrame(t, frame, `console-basket-${theme}-${device}`)
    const box = await page.locator('iframe').boundingBox()
    const height = await frame.evaluate('Math.ceil(document.body.getBoundingClientRect().height)') as number
    t.equal(box?.height, height + 2, 'with its borders')
    await keepPicture(page, `console-basket-${theme}-${device}`)
  })

  await frame.getByRole('button', { name: 'Check out' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await frame.getByRole('heading', { name: 'Thank you. Your order is placed.' }).waitFor()
  t.match((await seen()).contexts.at(-1), 'It is ordered as')
  const methods = new Set((await seen()).requests.map(({ method }) => method))
  t.strictSame([...methods], ['tools/list', 'tools/call'])

  await page.evaluate('screenHandle.close()')
  t.equal(await page.locator('iframe').count(), 0)
  t.strictSame(problems, [])
})

t.test('the console of dev shows the screen beside the result', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const root = await makeFolder(t)
  await cp(new URL('../../../catalog', import.meta.url), root, { recursive: true })
  const { url: service } = await startService(t, {}, { args: ['dev', root] })
  const page = await openPage(t)
  const problems: string[] = []
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()) })
  for (const [host, theme] of [['127.0.0.1', 'light'], ['localhost', 'dark']] as const) {
    await page.emulateMedia({ colorScheme: theme })
    const basketId = await createBasket(service)
    const url = new URL('/', service)
    url.hostname = host
    await page.goto(`${url.href}#tool%3Aview_basket`)
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('main').getByLabel('basketId').fill(basketId)
    await page.keyboard.press('Control+Enter')
    const frame = page.frameLocator('iframe').frameLocator('iframe')
    await frame.getByText('There is nothing in it yet.').waitFor()
    await frame.locator(`html[style*="${theme}"]`).waitFor()
    await frame.getByRole('searchbox').fill('whale')
    await frame.getByRole('button', { name: 'Find' }).click()
    await frame.getByRole('button', { name: 'Add Moby-Dick' }).click()
    await frame.getByText('1 copy').waitFor()
    await page.getByText('The model would learn: The customer changed the basket').first().waitFor()
    await frame.getByRole('button', { name: 'Check out' }).click()
    await page.getByLabel('Yes, order this').waitFor()
    await keepPicture(page, `console-asks-${host}`)
    await page.getByLabel('Yes, order this').check()
    await page.getByRole('button', { name: 'Accept' }).click()
    await frame.getByRole('heading', { name: 'Thank you. Your order is placed.' }).waitFor()
    await keepPicture(page, `console-ordered-${host}`)
  }
  t.strictSame(problems, [])
})
