// The modules of test262-parser-tests. Valid ones compile, and all others throw a SyntaxError.

import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { CompiledModules } from '../../../src/platform/modules/compiled-module.ts'

const SUITE = dirname(createRequire(import.meta.url).resolve('test262-parser-tests/package.json'))

for (
  const [folder, isValid, count] of [
    ['pass', true, 76], ['pass-explicit', true, 76], ['fail', false, 47], ['early', false, 63]
  ] as const
) {
  t.test(folder, async (t) => {
    const files = (await readdir(join(SUITE, folder))).filter((file) => file.endsWith('.module.js'))
    t.equal(files.length, count)
    for (const file of files) {
      const source = await readFile(join(SUITE, folder, file), 'utf8')
      const compiled = new CompiledModules().compile(source, join('/suite', file))
      if (isValid) await t.resolves(compiled, source)
      else await t.rejects(compiled, { name: 'SyntaxError' }, source)
    }
  })
}
