// Which modules may print is known before their code runs.

import { join } from 'node:path'
import t from 'tap'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { newGraph, PACKAGES } from './graphs.ts'

const FILES = {
  ...PACKAGES,
  'silent.ts': "import data from './data.json' with { type: 'json' }\n" +
    "import { token } from 'esm-only'\nexport default [data, token]",
  'data.json': '["console"]',
  'console.ts': "export const say = () => console.log('a')",
  'global.ts': "export const say = () => globalThis.console.log('a')",
  'stream.ts': "import { stdout } from 'node:process'\nexport const say = () => stdout.write('a')",
  'error-stream.ts': "export const say = () => process.stderr.write('a')",
  'commented.ts': '// console\nexport const a = 1',
  'imports.ts': "export { say } from './console.ts'",
  'imports-more.ts': "import './silent.ts'\nexport * from './imports.ts'",
  'common.cjs': 'exports.a = 1',
  'imports-common.ts': "export { a } from './common.cjs'",
  'dynamic.ts': "export const load = async () => await import('./silent.ts')",
  'cycle-a.ts': "import './cycle-b.ts'\nexport const a = 1",
  'cycle-b.ts': "import './cycle-a.ts'\nimport './console.ts'",
  'silent-cycle-a.ts': "import './silent-cycle-b.ts'",
  'silent-cycle-b.ts': "import './silent-cycle-a.ts'\nimport './silent.ts'"
}

const SILENT = ['silent.ts', 'commented.ts', 'silent-cycle-a.ts', 'silent-cycle-b.ts']
const PRINTING = [
  'console.ts', 'global.ts', 'stream.ts', 'error-stream.ts', 'imports.ts', 'imports-more.ts',
  'imports-common.ts', 'dynamic.ts', 'cycle-a.ts', 'cycle-b.ts'
]

t.test('a module may print if its text says so, or that of a module that it imports', async (t) => {
  const root = await writeCatalog(t, FILES)
  const found = async (graph: ReturnType<typeof newGraph>, names: readonly string[]) => {
    const printing: string[] = []
    for (const name of names) {
      await graph.load(join(root, name))
      if (await graph.mayPrint(join(root, name))) printing.push(name)
    }
    return printing
  }
  const all = [...SILENT, ...PRINTING]
  t.strictSame(await found(newGraph(root), all), PRINTING)
  t.strictSame(await found(newGraph(root), all.toReversed()), PRINTING.toReversed(), 'in any order')
})
