// Looks at pages in both themes, at the widths of a desktop and of a phone, and by the rules of axe.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
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
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme })
    for (const [device, width] of Object.entries(WIDTHS)) {
      const view = `${name}-${colorScheme}-${device}`
      await page.setViewportSize({ width, height: 844 })
      const wide = await page.evaluate('document.documentElement.scrollWidth')
      t.ok(Number(wide) <= width, `${view}: ${wide} px wide`)
      t.strictSame(await findAxeProblems(page, exceptions), [], view)
      if (SCREENSHOTS !== undefined) {
        await page.screenshot({ path: join(SCREENSHOTS, `${view}.png`), fullPage: true })
      }
    }
  }
}

/** The page's policy allows no scripts. A debugger may run them all the same. */
async function findAxeProblems (page: Page, exceptions: readonly string[]): Promise<string[]> {
  await page.evaluate(AXE)
  const rules = Object.fromEntries(exceptions.map((rule) => [rule, { enabled: false }]))
  const { violations } = await page.evaluate(`axe.run(document, ${JSON.stringify({ rules })})`) as AxeResult
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(' ')}`)
}

interface AxeResult { readonly violations: readonly Violation[] }

interface Violation { readonly id: string, readonly nodes: ReadonlyArray<{ readonly html: string }> }
