// Graphs of modules for tests, and packages that their modules import.

import { join } from 'node:path'
import type { Test } from 'tap'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import type { Namespace } from '../../../src/platform/modules/namespace.ts'
import * as trivet from '../../../src/index.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { within } from '../../helpers/deadline.ts'

export const newGraph = (root = '/'): ModuleGraph => new ModuleGraph({ root, provided: { trivet } })

/** Evaluates the first of these files in a new graph. */
export async function evaluate (t: Test, files: Files): Promise<Namespace> {
  const root = await writeCatalog(t, files)
  const [first = ''] = Object.keys(files)
  return await within(newGraph().load(join(root, first)), `the end of ${first}`)
}

export const PACKAGES: Files = {
  'node_modules/esm-only/package.json': JSON.stringify({
    name: 'esm-only',
    type: 'module',
    exports: {
      '.': { import: './main.js', default: './never.js' }, './deep/*': './lib/*.js'
    }
  }),
  'node_modules/esm-only/main.js': 'export const token = {}\nexport default "esm"',
  'node_modules/esm-only/lib/one.js': 'export const one = 1',
  'node_modules/cjs/package.json': JSON.stringify({ name: 'cjs', main: './main.js' }),
  'node_modules/cjs/main.js': 'exports.named = require("./other").named; exports.token = {}',
  'node_modules/cjs/other.js': 'exports.named = "named"'
}
