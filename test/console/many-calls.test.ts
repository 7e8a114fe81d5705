// The page of the console with many calls, with large results, and with calls of screens.

import t from 'tap'
import { hasChromium } from '../browser/chromium.ts'
import { toolModule } from '../helpers/catalog-folder.ts'
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
  await screen.getByText(`${CALLS} answered. Screens have ${MOST_OPEN} open calls.`).waitFor({ timeout: 60_000 })
  await activity.getByRole('tab', { name: /Last calls/ }).click()
  const rows = activity.getByRole('listitem')
  t.equal(await rows.filter({ hasText: 'slow' }).filter({ hasNotText: 'by a screen' }).count(), 1)
  t.equal(await rows.filter({ hasText: 'busy' }).count(), 1)
  t.ok(await rows.count() <= 2 + 2 * MOST_OPEN, `${await rows.count()} rows`)
  t.strictSame(problems, [])
})
