// Debian's Chromium: one for the tests of a process that follow each other.

import { chromium, type Browser, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { hasPrograms } from '../servers/programs.ts'

const PROGRAM = '/usr/bin/chromium'

/** Whether Chromium can be started here. See `hasPrograms`. */
export function hasChromium (t: Test): boolean {
  return hasPrograms(t, [PROGRAM], 'chromium')
}

const ARGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
  // The shared memory of the machine may be full: databases of tests are there.
  '--disable-dev-shm-usage'
]

/** The time without a page after which the browser ends. It would keep the process from ending. */
const UNUSED_MS = 2000

let browser: Promise<Browser> | undefined
let pages = 0
let closing: NodeJS.Timeout | undefined

async function close (): Promise<void> {
  const unused = browser
  browser = undefined
  await (await unused)?.close()
}

/** Opens a page with a new profile, which is closed when the test ends. */
export async function openPage (t: Test): Promise<Page> {
  clearTimeout(closing)
  pages++
  browser ??= chromium.launch({ executablePath: PROGRAM, args: ARGS })
  const context = await (await browser).newContext({ viewport: { width: 620, height: 720 } })
  t.teardown(async () => {
    await context.close()
    pages--
    if (pages === 0) closing = setTimeout(close, UNUSED_MS)
  })
  return await context.newPage()
}
