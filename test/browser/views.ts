// Looks at pages in both themes, at the widths of a desktop and of a phone, and by the rules of axe.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Frame, Page } from 'playwright-core'
import type { Test } from 'tap'

/** Set it to a folder to keep a picture of each view. */
const { SCREENSHOTS } = process.env

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const THEMES = ['light', 'dark'] as const
const WIDTHS = { desktop: 1000, phone: 390 }

interface ViewOptions {
  /** Rules of axe that do not hold here. */
  readonly exceptions?: readonly string[]
}

/** Checks the page that is open. `name` names its pictures. */
export async function checkViews (
  t: Test, page: Page, name: string, { exceptions = [] }: ViewOptions = {}
): Promise<void> {
  await forEachView(page, async (colorScheme, device) => {
    const view = `${name}-${colorScheme}-${device}`
    await page.emulateMedia({ colorScheme })
    await checkFrame(t, page.mainFrame(), view, exceptions)
    await keepPicture(page, view)
  })
}

export async function forEachView (
  page: Page, look: (theme: typeof THEMES[number], device: string) => Promise<void>
): Promise<void> {
  for (const theme of THEMES) {
    for (const [device, width] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width, height: 844 })
      await look(theme, device)
    }
  }
}

/** Checks that nothing is wider than the frame, and the rules of axe. */
export async function checkFrame (
  t: Test, frame: Frame, view: string, exceptions: readonly string[] = []
): Promise<void> {
  const overflow = await frame.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  t.ok(Number(overflow) <= 0, `${view}: ${overflow} px too wide`)
  // The policy of the page allows no scripts. A debugger may run them all the same.
  await frame.evaluate(AXE)
  const rules = Object.fromEntries(exceptions.map((rule) => [rule, { enabled: false }]))
  const { violations } = await frame.evaluate(`axe.run(document, ${JSON.stringify({ rules })})`) as AxeResult
  t.strictSame(violations.map(({ id, nodes: [node] }) => `${id}: ${node?.html.slice(0, 100)}`), [], view)
}

export async function keepPicture (page: Page, view: string): Promise<void> {
  if (SCREENSHOTS === undefined) return
  await page.screenshot({ path: join(SCREENSHOTS, `${view}.png`), fullPage: true })
}

interface AxeResult { readonly violations: readonly Violation[] }

interface Violation { readonly id: string, readonly nodes: ReadonlyArray<{ readonly html: string }> }
