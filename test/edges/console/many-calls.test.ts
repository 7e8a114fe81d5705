// The page of the console with many calls, with large results, and with calls of screens.

import t from 'tap'
import { hasChromium } from '../../browser/chromium.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { activityOf, openConsole, selectKey, untilStatus } from './open-console.ts'

const CALLS = 60
const MOST_OPEN = 20

/** Calls a tool many times, one after the other, and another one as often at once. Shows the outcome. */
const SCREEN = `<!doctype html><html lang="en"><title>Busy</title><body><p>Busy</p><script>
const waiting = new Map()
const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
const ask = (id, method, params) => new Promise((resolve) => {
  waiting.set(id, resolve)
  post({ id, method, params })
})
addEventListener('message', ({ data }) => waiting.get(data.id)?.(data))
const call = (name, id) => ask(name + id, 'tools/call', { name, arguments: {} })
async function run () {
  await ask('start', 'ui/initialize', {
    protocolVersion: '2026-01-26', appInfo: { name: 'busy', version: '1' }, appCapabilities: {}
  })
  post({ method: 'ui/notifications/initialized' })
  let answered = 0
  for (let at = 0; at < ${CALLS}; at++) if ((await call('quick', at)).result) answered++
  for (let at = 0; at < ${MOST_OPEN}; at++) call('slow', at)
  const { error } = await call('slow', 'more')
  document.querySelector('p').textContent = answered + ' answered. ' + error.message
}
run()
</script>`

const FILES = {
  'apps/busy/index.html': SCREEN,
  'tools/busy.ts': toolModule('busy', "ui: 'busy'"),
  'tools/quick.ts': toolModule('quick'),
  'tools/large.ts': toolModule('large', '', "() => 'x'.repeat(5_000_000)"),
  'tools/wide.ts': toolModule('wide', '', `() => toolResult({ structuredContent: Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => ['member' + at, at]))
  })`),
  'tools/slow.ts': toolModule('slow', '', `async () => {
    await new Promise((resolve) => setTimeout(resolve, 60_000))
    return 'ok'
  }`)
}

const SLOW = { timeout: 240_000 }

t.test('the calls of a screen are bounded, and push out no call of the person', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, { files: FILES })
  const [main, activity] = [page.getByRole('main'), activityOf(page)]
  for (const tool of ['slow', 'busy']) {
    await selectKey(page, `tool:${tool}`)
    await main.getByRole('heading', { name: tool, level: 2 }).waitFor()
    await page.keyboard.press('Control+Enter')
  }
  await untilStatus(page, /^done in/)
  const screen = page.frameLocator('iframe').frameLocator('iframe')
  const outcome = `${CALLS} answered. Screens have ${MOST_OPEN} open calls.`
  await screen.getByText(outcome).waitFor({ timeout: 60_000 })
  await activity.getByRole('tab', { name: /Last calls/ }).click()
  const rows = activity.getByRole('listitem')
  t.equal(await rows.filter({ hasText: 'slow' }).filter({ hasNotText: 'by a screen' }).count(), 1)
  t.equal(await rows.filter({ hasText: 'busy' }).count(), 1)
  t.ok(await rows.count() <= 2 + 2 * MOST_OPEN, `${await rows.count()} rows`)
  t.strictSame(problems, [])
})

/** Counts the characters of all JSON that the page writes from now on. */
const COUNT_JSON = `{
  const write = JSON.stringify
  window.jsonChars = 0
  JSON.stringify = (...args) => {
    const text = write(...args)
    window.jsonChars += text?.length ?? 0
    return text
  }
}`

t.test('large results are measured once, and the oldest of 50 MB are dropped', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, { files: FILES })
  const activity = activityOf(page)
  const call = async (tool: string, count: number) => {
    await selectKey(page, `tool:${tool}`)
    await page.getByRole('main').getByRole('heading', { name: tool, level: 2 }).waitFor()
    await page.keyboard.press('Control+Enter')
    await activity.getByRole('tab', { name: `Last calls ${count}` }).waitFor()
    await untilStatus(page, /^done in/)
  }
  await call('quick', 1)
  await activity.getByRole('tab', { name: 'Request' }).click()
  for (let count = 2; count < 14; count++) await call('large', count)
  await page.evaluate(COUNT_JSON)
  await call('quick', 14)
  const chars = Number(await page.evaluate('jsonChars'))
  t.ok(chars < 1_000_000, `${chars} characters of JSON`)
  await activity.getByRole('tab', { name: 'Answer' }).click()
  await activity.getByRole('tab', { name: /Last calls/ }).click()
  await activity.getByRole('listitem').nth(12).getByRole('button').first().click()
  await activity.getByText('The result was dropped: the page keeps 50 MB of results.').waitFor()
  await activity.getByRole('tab', { name: /Last calls/ }).click()
  await activity.getByRole('listitem').nth(13).getByRole('button').first().click()
  await activity.getByText('The result was dropped').waitFor()
  t.strictSame(problems, [])
})

t.test('an object with 10,000 members is shown in parts', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, problems } = await openConsole(t, { files: FILES })
  const activity = activityOf(page)
  await selectKey(page, 'tool:wide')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, /^done in/)
  t.equal(await activity.locator('.member').count(), 50)
  await activity.getByRole('button', { name: 'Show 500 more of 10000' }).click()
  await activity.getByText('member549', { exact: true }).waitFor()
  t.equal(await activity.locator('.member').count(), 550)
  t.strictSame(problems, [])
})

t.test('screens need an address that has another name', SLOW, async (t) => {
  if (!hasChromium(t)) return
  const { page, url } = await openConsole(t, { files: FILES })
  const ipv6 = url.replace('127.0.0.1', '[::1]').replace('localhost', '[::1]')
  await page.route(`${ipv6}**`, async (route) => {
    const headers = await route.request().allHeaders()
    // A stream would never be fetched whole.
    if (headers['mcp-method'] === 'subscriptions/listen') return await route.abort()
    const { origin, host } = new URL(url)
    const response = await route.fetch({
      url: route.request().url().replace(ipv6, url), headers: { ...headers, origin, host }
    })
    await route.fulfill({ response })
  })
  await page.goto(ipv6)
  await page.getByRole('navigation', { name: 'Catalog' }).getByRole('link').first().waitFor()
  await selectKey(page, 'tool:busy')
  await page.keyboard.press('Control+Enter')
  const reason = 'The screen cannot be shown. Screens need the console at http://127.0.0.1 or http://localhost.'
  await activityOf(page).getByText(reason).waitFor()
  t.equal(await page.locator('iframe').count(), 0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
