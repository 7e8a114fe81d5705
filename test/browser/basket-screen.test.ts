// The screen of the bookshop's basket in a browser, in a host made of the official client and bridge.

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { FrameLocator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { makeFolder } from '../helpers/folder.ts'
import { startService } from '../helpers/service.ts'
import { hasChromium, openPage } from './chromium.ts'
import { startHost, type HostOrigins } from './host-origins.ts'
import { checkFrame, forEachView, keepPicture } from './views.ts'

const EXAMPLE = new URL('../../catalog', import.meta.url)

interface OpenScreen {
  readonly page: Page
  readonly screen: FrameLocator
  readonly origins: HostOrigins
  readonly root: string
  readonly basketId: string
  readonly problems: readonly string[]
}

async function openBasket (
  t: Test, revision: string, edit?: (root: string, origins: HostOrigins) => Promise<void>
): Promise<OpenScreen> {
  const root = await makeFolder(t)
  await cp(EXAMPLE, root, { recursive: true })
  const origins = await startHost(t)
  await edit?.(root, origins)
  const { url } = await startService(t, { TRIVET_CATALOG: root, TRIVET_ALLOWED_ORIGINS: origins.page })
  const basketId = await createBasket(t, url)
  const page = await openPage(t)
  const problems: string[] = []
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()) })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(`${origins.page}?${new URLSearchParams({ service: url, sandbox: origins.sandbox, revision })}`)
  await page.waitForFunction('window.openTool !== undefined')
  await page.evaluate(`openTool('view_basket', ${JSON.stringify({ basketId })})`)
  const screen = page.frameLocator('iframe').frameLocator('iframe')
  return { page, screen, origins, root, basketId, problems }
}

async function createBasket (t: Test, url: string): Promise<string> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  t.teardown(async () => await client.close())
  const { structuredContent } = await client.callTool({ name: 'create_basket', arguments: {} })
  return (structuredContent as { basketId: string }).basketId
}

const seenBy = async (page: Page) => await page.evaluate('seen') as {
  contexts: string[], sizes: Array<{ height: number }>, renders: number, meta: object
}

/** Checks the screen in both themes and widths, and that fingers can hit what can be pressed. */
async function checkScreen (t: Test, page: Page, name: string): Promise<void> {
  const frame = page.frames().at(-1) ?? page.mainFrame()
  await forEachView(page, async (theme, device) => {
    // The colours of the screen itself, not those of the host.
    await page.evaluate(`setTheme('${theme}', { '--color-text-primary': 'initial' })`)
    await frame.locator(`html[style*="${theme}"]`).waitFor()
    await checkFrame(t, frame, `${name}-${theme}-${device}`)
    await keepPicture(page, `${name}-${theme}-${device}`)
  })
  const sizes = await frame.evaluate(
    "[...document.querySelectorAll('button, input')].map((one) => one.getBoundingClientRect())" +
    '.filter(({ width }) => width > 0).map(({ width, height }) => Math.min(width, height))'
  ) as number[]
  t.ok(sizes.every((size) => size >= 44), `${sizes}`)
}

for (const revision of ['2026-07-28', '2025-11-25']) {
  t.test(`a person fills a basket and orders it on its screen, ${revision}`, { timeout: 90_000 }, async (t) => {
    if (!hasChromium(t)) return
    const { page, screen, basketId, problems, root } = await openBasket(t, revision)
    await screen.getByText('There is nothing in it yet.').waitFor()
    t.ok(await screen.getByRole('button', { name: 'Check out' }).isDisabled())

    await screen.getByRole('searchbox').fill('whale')
    await screen.getByRole('button', { name: 'Find' }).click()
    const add = screen.getByRole('button', { name: 'Add Moby-Dick' })
    await add.click()
    const lines = screen.getByRole('list', { name: 'Books in the basket' }).getByRole('listitem')
    await lines.getByText('1 copy').waitFor()
    t.ok(await screen.getByRole('button', { name: 'One copy less of Moby-Dick' }).isDisabled())
    await screen.getByRole('button', { name: 'One copy more of Moby-Dick' }).click()
    await lines.getByText('2 copies').waitFor()
    await add.click()
    await lines.getByText('3 copies').waitFor()
    await screen.getByRole('button', { name: 'One copy less of Moby-Dick' }).click()
    await lines.getByText('2 copies').waitFor()
    t.match(await lines.innerText(), /Moby-Dick\nHerman Melville\n€25\.90\n€12\.95 each/)
    await screen.getByRole('searchbox').fill('frankenstein')
    await screen.getByRole('button', { name: 'Find' }).click()
    await screen.getByRole('button', { name: 'Add Frankenstein' }).click()
    await screen.getByRole('button', { name: 'Remove all 2 of Moby-Dick' }).waitFor()
    await checkScreen(t, page, `basket-${revision}`)
    await screen.getByRole('button', { name: 'Remove Frankenstein' }).click()
    await screen.getByRole('button', { name: 'Remove Frankenstein' }).waitFor({ state: 'detached' })

    await screen.getByRole('button', { name: 'Check out' }).click()
    const dialog = page.getByRole('dialog')
    t.match(await dialog.innerText(), /Order 2 x Moby-Dick for/)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await screen.getByRole('heading', { name: 'Thank you. Your order is placed.' }).waitFor()
    t.match(await screen.getByText('Your order number is').innerText(), /is [0-9a-f-]{36}\.$/)
    t.equal(await screen.getByRole('button').count(), 0)
    await checkScreen(t, page, `ordered-${revision}`)

    const { contexts, sizes, meta } = await seenBy(page)
    t.match(contexts.at(-1), new RegExp(`changed the basket ${basketId}: 2 x Moby-Dick. It is ordered as`))
    t.ok(sizes.length > 1 && sizes.every(({ height }) => height > 100))
    t.strictSame(meta, { mimeType: 'text/html;profile=mcp-app', ui: { prefersBorder: true } })

    await t.test('a changed file of the app reaches the open screen', async (t) => {
      const file = join(root, 'apps/basket/index.html')
      await writeFile(file, (await readFile(file, 'utf8')).replace('Your basket', 'Your books'))
      await screen.getByRole('heading', { name: 'Your books' }).waitFor()
      await screen.getByText('Your order number is').waitFor()
      t.equal((await seenBy(page)).renders, 2)
    })
    t.strictSame(problems, [])
  })
}

t.test('the screen has the look of its host, and follows it', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const { page, screen } = await openBasket(t, '2026-07-28')
  const look = async () => await screen.locator('body').evaluate(
    'getComputedStyle(document.body).color + " " + document.documentElement.style.colorScheme'
  )
  await screen.getByText('There is nothing in it yet.').waitFor()
  t.equal(await look(), 'rgb(10, 20, 30) light')
  await page.evaluate('setTheme("dark")')
  await screen.locator('html[style*="dark"]').waitFor()
  t.equal(await look(), 'rgb(10, 20, 30) dark')
})

t.test('a host blocks the origins that app.yaml does not list', { timeout: 90_000 }, async (t) => {
  if (!hasChromium(t)) return
  const tries = async ({ screen, origins }: OpenScreen) => await screen.locator('body').evaluate(`
    (async () => {
      const reach = async (path) => await fetch('${origins.stranger}' + path).then(() => true, () => false)
      const load = async (make) => await new Promise((resolve) => {
        const element = make()
        element.onload = () => resolve(true)
        element.onerror = () => resolve(false)
        document.body.append(element)
      })
      // In a later turn and in a script of its own: a debugger may evaluate what a page may not.
      await new Promise((resolve) => setTimeout(resolve))
      document.body.append(Object.assign(document.createElement('script'), {
        textContent: 'try { window.evaluates = new Function("return true")() } catch { window.evaluates = false }'
      }))
      document.body.insertAdjacentHTML('beforeend', '<b id="click" onclick="this.title = \\'ran\\'"></b>')
      document.getElementById('click').click()
      return {
        connects: await reach('/connect'),
        image: await load(() => Object.assign(new Image(), { src: '${origins.stranger}/image' })),
        script: await load(() => Object.assign(document.createElement('script'), { src: '${origins.stranger}/s.js' })),
        dataScript: await load(() => Object.assign(document.createElement('script'), { src: 'data:text/javascript,1' })),
        evaluates: window.evaluates,
        inlineHandler: document.getElementById('click').title === 'ran'
      }
    })()
  `)
  await t.test('nothing is listed', async (t) => {
    const opened = await openBasket(t, '2026-07-28')
    await opened.screen.getByText('There is nothing in it yet.').waitFor()
    t.strictSame(await tries(opened), {
      connects: false,
      image: false,
      script: false,
      // The reason why modules are made one inline script.
      dataScript: false,
      evaluates: false,
      // The specification allows inline scripts, and with them these.
      inlineHandler: true
    })
    t.strictSame(opened.origins.asked, [])
  })
  await t.test('the origin is listed for connections', async (t) => {
    const opened = await openBasket(t, '2026-07-28', async (root, { stranger }) => {
      await writeFile(join(root, 'apps/basket/app.yaml'), `csp:\n  connectDomains: ['${stranger}']\n`)
    })
    await opened.screen.getByText('There is nothing in it yet.').waitFor()
    t.match(await tries(opened), { connects: true, image: false, script: false, dataScript: false })
    t.strictSame(opened.origins.asked, ['/connect'])
  })
})
