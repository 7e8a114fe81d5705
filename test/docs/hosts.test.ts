// The tables of docs/hosts.md are what a service answers to each kind of host, and what hosts were seen to
// do. `npm run hosts` writes them.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { toHabitsTable, toHostsTable, toVersionsTable } from './hosts-page.ts'
import { ROOT } from './pages.ts'

const file = join(ROOT, 'docs/hosts.md')
const tableOf = (heading: string) => new RegExp(`^\\| Host \\| ${heading} \\|.*\\n(?:\\|.*\\n)+`, 'm')

t.test('docs/hosts.md has the tables that the hosts of a test see, and that check has', async (t) => {
  const tables = [
    [tableOf('A short call'), await toHostsTable(t)], [tableOf('Version'), toVersionsTable()],
    [tableOf('Habit'), toHabitsTable()]
  ] as const
  const page = await readFile(file, 'utf8')
  for (const [place] of tables) t.match(page, place)
  const written = tables.reduce((text, [place, table]) => text.replace(place, () => table), page)
  if (process.env.HOSTS_PAGE === 'write') await writeFile(file, written)
  else t.equal(page, written, 'npm run hosts writes it')
})
