// The console of `trivet dev` in a browser, over a catalog that the test may change.

import { cp } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { openPage } from '../../browser/chromium.ts'
import { writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startService } from '../../helpers/service.ts'

const BOOKSHOP = fileURLToPath(new URL('../../../catalog', import.meta.url))

export interface StartedConsole {
  /** The URL of the page. */
  readonly url: string
  /** The folder of the catalog. */
  readonly root: string
}

export interface OpenedConsole extends StartedConsole {
  readonly page: Page
  /** What the browser has complained of. */
  readonly problems: readonly string[]
}

interface ConsoleOptions {
  /** The files of the catalog. Those of the bookshop by default. */
  readonly files?: Files
  readonly args?: readonly string[]
  readonly env?: { readonly [variable: string]: string }
}

/** Starts `trivet dev`. Tests that do not change the catalog may share it. */
export async function startConsole (
  t: Test, { files, args = [], env = {} }: ConsoleOptions = {}
): Promise<StartedConsole> {
  const root = await makeFolder(t)
  if (files === undefined) await cp(BOOKSHOP, root, { recursive: true })
  for (const [path, contents] of Object.entries(files ?? {})) await writeInPlace(root, path, contents)
  const { url: endpoint } = await startService(t, env, { args: ['dev', root, ...args] })
  return { url: new URL('/', endpoint).href, root }
}

/** Opens the console that was started, or else one of its own. */
export async function openConsole (
  t: Test, options: ConsoleOptions | StartedConsole = {}
): Promise<OpenedConsole> {
  const { url, root } = 'url' in options ? options : await startConsole(t, options)
  const page = await openPage(t)
  const problems: string[] = []
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()) })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.setViewportSize({ width: 1280, height: 844 })
  await page.goto(url)
  await page.getByRole('navigation', { name: 'Catalog' }).getByRole('link').first().waitFor()
  return { page, url, root, problems }
}

/** Selects an entry of the catalog by its key. */
export async function selectKey (page: Page, key: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(encodeURIComponent(key))}`)
  await page.getByRole('main').getByRole('heading', { level: 2 }).waitFor()
}

/** The pane with calls and their answers. */
export function activityOf (page: Page): Locator {
  return page.getByRole('region', { name: 'Calls', exact: true })
}

/** Waits until the call that is shown has this status. */
export async function untilStatus (page: Page, status: RegExp): Promise<void> {
  await activityOf(page).locator('.head .chip').filter({ hasText: status }).waitFor()
}

/** Makes a basket of the bookshop, and takes its id to the form that adds a book. */
export async function beginBasket (page: Page): Promise<void> {
  await selectKey(page, 'tool:create_basket')
  await page.getByRole('main').getByRole('button', { name: 'Call', exact: true }).click()
  await untilStatus(page, /^done in/)
  await activityOf(page).getByRole('button', { name: 'add_to_basket' }).click()
}
