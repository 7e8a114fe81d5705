// The table of docs/hosts.md is what a service answers to each kind of host. `npm run hosts` writes it.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { toHostsTable } from './hosts-page.ts'
import { ROOT } from './pages.ts'

const file = join(ROOT, 'docs/hosts.md')
const TABLE = /^\| Host \|.*\n(?:\|.*\n)+/m

t.test('docs/hosts.md has the table that the hosts of a test see', async (t) => {
  const table = await toHostsTable(t)
  const page = await readFile(file, 'utf8')
  t.match(page, TABLE)
  if (process.env.HOSTS_PAGE === 'write') await writeFile(file, page.replace(TABLE, () => table))
  else t.equal(TABLE.exec(page)?.[0], table, 'npm run hosts writes it')
})
