// Debian's Chromium, for one test.

import { chromium, type Page } from 'playwright-core'
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

/** A page of a browser with a new profile, which is closed when the test ends. */
export async function openPage (t: Test): Promise<Page> {
  const browser = await chromium.launch({ executablePath: PROGRAM, args: ARGS })
  t.teardown(async () => await browser.close())
  return await browser.newPage({ viewport: { width: 620, height: 720 } })
}
