// The page of the settings is what the table generates. `npm run settings` writes it.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ROWS } from '../../src/ops/config/settings.ts'
import { ROOT } from './pages.ts'
import { toSettingsPage } from './settings-page.ts'

const file = join(ROOT, 'docs/settings.md')
if (process.env.SETTINGS_PAGE === 'write') await writeFile(file, toSettingsPage())
const page = await readFile(file, 'utf8')

t.test('docs/settings.md is the page of the table', async (t) => {
  t.equal(page, toSettingsPage(), 'npm run settings writes it')
})

t.test('each setting has one row, with its default', async (t) => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \|(?: `([^`]*)`)? \| \S.* \| \S.* \|$/gm)].map(
    ([, variable, fallback = '']) => [variable, fallback]
  )
  const settings = ROWS.map(([, { variable, fallback }]) => [variable, String(fallback ?? '')])
  t.strictSame(rows.toSorted(), settings.toSorted())
})
