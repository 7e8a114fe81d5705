// TypeScript has the same results in the service and when TypeScript's compiler and Node run it.

import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { describeLoading } from '../../helpers/describe-module.mjs'
import { loadNatively } from '../../helpers/native-modules.ts'
import { TYPESCRIPT } from './cases/typescript.ts'

const PACKAGE = { 'package.json': '{ "type": "module" }' }
const SOURCE = /\.tsx?$/

/** The files as the compiler writes them, for this engine. */
function compile (files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([file, source]) => {
    if (!SOURCE.test(file) || typeof source !== 'string') return [file, source]
    const { outputText } = ts.transpileModule(source, {
      fileName: file,
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        jsx: ts.JsxEmit
          .ReactJSX,
        rewriteRelativeImportExtensions: true
      }
    })
    return [file.replace(SOURCE, '.js'), outputText]
  }))
}

const written = await Promise.all(Object.entries(TYPESCRIPT).map(async ([what, files]) => {
  const [root, compiled] = await Promise.all([
    writeCatalog(t, { ...PACKAGE, ...files }), writeCatalog(t, { ...PACKAGE, ...compile(files) })
  ])
  const [entry = ''] = Object.keys(files)
  return { what, root, entry: join(root, entry), compiled: join(compiled, entry.replace(SOURCE, '.js')) }
}))
const expected = await loadNatively(written.map(({ compiled }) => compiled))

for (const [index, { what, root, entry }] of written.entries()) {
  t.test(what, async (t) => {
    const graph = new ModuleGraph({ root, provided: {} })
    t.strictSame(await describeLoading(async () => await graph.load(entry)), expected[index])
  })
}
