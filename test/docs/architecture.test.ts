// The pictures of docs/architecture.md are those of the sources. `npm run pictures` writes them.

import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { TRANSITIONS } from '../../src/features/tasks/machine/transition-table.ts'
import { toPartsPicture, toPhasesPicture } from './architecture-page.ts'
import { ROOT } from './pages.ts'

const PAGE = join(ROOT, 'docs/architecture.md')
const SRC = join(ROOT, 'src')
const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted()
const sources = new Map(
  await Promise.all(files.map(async (file) => [file, await readFile(join(SRC, file), 'utf8')] as const))
)

const PICTURES = {
  flowchart: toPartsPicture(sources),
  stateDiagram: toPhasesPicture(TRANSITIONS)
}

t.test('the pictures are made from the sources', async (t) => {
  let page = await readFile(PAGE, 'utf8')
  for (const [kind, picture] of Object.entries(PICTURES)) {
    const block = new RegExp(`(?<=\`\`\`mermaid\\n)${kind}[^\`]*(?=\`\`\`)`)
    if (process.env.PICTURES === 'write') page = page.replace(block, () => picture)
    t.equal(block.exec(page)?.[0], picture, 'npm run pictures writes it')
  }
  if (process.env.PICTURES === 'write') await writeFile(PAGE, page)
})

t.test('each file and folder that the page names exists', async (t) => {
  const page = await readFile(PAGE, 'utf8')
  const names = [...page.matchAll(/`([a-z-]+\/[\w./-]*|[\w-]+\.ts)`/g)].map(([, name = '']) => name)
  t.ok(names.length > 30)
  t.strictSame(names.filter((name) => ![ROOT, SRC].some((root) => existsSync(join(root, name)))), [])
})

t.test('the order of the parts comes from the imports', async (t) => {
  const importing = (target: string) => `import { x } from '${target}'\n`
  const small = toPartsPicture(new Map([
    ['app/app.ts', importing('../edges/http/a.ts')],
    ['edges/http/a.ts', importing('../../request/pipeline/b.ts') + importing('../../platform/protocol/c.ts')],
    ['request/pipeline/b.ts', importing('../../platform/protocol/c.ts') + importing('../../base/d.ts')],
    ['platform/protocol/c.ts', ''],
    ['base/d.ts', '']
  ]))
  t.match(small, '  http --> request\n  request --> protocol\n')
  t.notMatch(small, 'http --> protocol', 'an edge that others imply is left out')
  const unknown = new Map([['new/a.ts', importing('../edges/http/a.ts')]])
  t.throws(() => toPartsPicture(unknown), /new\/a\.ts is in no part/)
  const circle = new Map([
    ['edges/http/a.ts', importing('../../features/files/a.ts')],
    ['features/files/a.ts', importing('../../edges/http/a.ts')]
  ])
  t.throws(() => toPartsPicture(circle), /import each other: http, files/)
})
