// The Inspector in Chromium, which signs a person in and calls tools.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openPage } from '../browser/chromium.ts'
import { findFreePort } from '../helpers/free-port.ts'

const WAIT_MS = 15_000
const TOOLS = ['hello', 'write_book']
const RESULT = /\{[\s\d]*"subject"[\s\S]*?\}/
/** Pages come one after another by themselves, and the state of one may be gone while it is read. */
const CLICKS = 40
const CLICK_MS = 500

/**
 * Starts the Inspector, which ends with the test.
 * @param {{ teardown (end: () => unknown): unknown }} test
 * @param {{ bin: string, home: string, endpoint: string, name: string }} options
 */
export async function openInspector (test, { bin, home, endpoint, name }) {
  const port = await findFreePort()
  const inspector = spawn(join(bin, 'mcp-inspector'), ['--transport', 'http', '--server-url', endpoint], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CLIENT_PORT: String(port),
      MCP_AUTO_OPEN_ENABLED: 'false',
      MCP_INSPECTOR_SECRET_STORE: 'memory'
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true
  })
  test.teardown(async () => {
    process.kill(-inspector.pid, 'SIGKILL')
    await once(inspector, 'close')
  })
  const page = await openPage(test)
  await page.setViewportSize({ width: 1280, height: 900 })
  const url = await readUrl(inspector)
  const { origin } = new URL(url)
  let visits = 0
  await page.goto(url)

  /** Does what each page asks for, until the Inspector is back and `isDone`. */
  async function goOn (isDone) {
    for (let click = 0; click < CLICKS && !await isDone(); click++) {
      await answerPage().catch(() => {})
      await page.waitForTimeout(CLICK_MS)
    }
  }

  async function answerPage () {
    if (page.url().startsWith(origin)) {
      const authorize = page.getByRole('button', { name: 'Authorize', exact: true })
      if (await authorize.isVisible()) await authorize.click()
      return
    }
    const allow = page.getByRole('button', { name: 'Allow' })
    if (await allow.isVisible()) {
      visits++
      return await allow.click()
    }
    const login = page.locator('input[name=login]')
    if (await login.isVisible()) {
      await login.fill(name)
      await page.locator('input[name=password]').fill('any')
    }
    await page.locator('button[type=submit]').click({ timeout: WAIT_MS })
  }

  const connection = page.getByRole('switch', { name: /^Connect or disconnect/ })
  const main = page.getByRole('main')
  const isBack = async () => page.url().startsWith(origin)

  async function call (tool) {
    // It sends the person to sign in as soon as its stream ends.
    await goOn(isBack)
    await page.getByText('Tools', { exact: true }).first().click()
    // The form of a tool that was called is shown again when another tool was selected in between.
    for (const name of [...TOOLS.filter((name) => name !== tool), tool]) {
      await main.getByRole('button', { name, exact: true }).click()
      await page.waitForTimeout(CLICK_MS)
    }
    await main.getByRole('button', { name: 'Execute Tool' }).click()
    await page.waitForTimeout(CLICK_MS)
    const before = visits
    await goOn(async () => await isBack() && RESULT.test(await main.innerText()))
    const [result] = RESULT.exec(await main.innerText()) ?? []
    if (result !== undefined) return result.replaceAll(/\s+\d*\s*/g, ' ')
    return visits > before ? 'the person has signed in, and must call again' : await page.innerText('body')
  }

  return {
    visits: () => visits,
    async connect () {
      await connection.click({ force: true })
      await goOn(async () => await isBack() && await page.getByText('Connected', { exact: true }).isVisible())
    },
    call
  }
}

async function readUrl ({ stdout }) {
  let text = ''
  for await (const chunk of stdout) {
    text += chunk
    const [url] = /http:\S+API_TOKEN=\w+/.exec(text) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`the Inspector has no URL: ${text}`)
}
