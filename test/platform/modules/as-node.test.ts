// Modules have the same results in the service and in Node.

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { describeLoading } from '../../helpers/describe-module.mjs'
import { loadNatively } from '../../helpers/native-modules.ts'
import type { Cases } from './cases/case.ts'
import { EVALUATION } from './cases/evaluation.ts'
import { EXPORTS } from './cases/exports.ts'
import { IMPORTS } from './cases/imports.ts'
import { LANGUAGE } from './cases/language.ts'

const PACKAGE = { 'package.json': '{ "type": "module" }' }

async function compare (t: Test, cases: Cases): Promise<void> {
  const written = await Promise.all(Object.entries(cases).map(async ([what, files]) => {
    const root = await writeCatalog(t, { ...PACKAGE, ...files })
    return { what, root, entry: join(root, Object.keys(files)[0] ?? '') }
  }))
  const expected = await loadNatively(written.map(({ entry }) => entry))
  for (const [index, { what, root, entry }] of written.entries()) {
    const graph = new ModuleGraph({ root, provided: {} })
    t.strictSame(await describeLoading(async () => await graph.load(entry)), expected[index], what)
  }
}

for (
  const [room, cases] of Object.entries({
    exports: EXPORTS, imports: IMPORTS, evaluation: EVALUATION, language: LANGUAGE
  })
) {
  t.test(room, async (t) => await compare(t, cases))
}
