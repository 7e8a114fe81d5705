// Finds the modules whose code may print: write with `console`, or to a standard stream.

import { extname } from 'node:path'
import type { ModuleRecord } from './module-record.ts'
import { SourceModule } from './source-module.ts'
import { SyntheticModule } from './synthetic-module.ts'

/**
 * Whether the module may print, or one that it requests, directly or not. Packages count as silent: their
 * texts are not read.
 * @param silent modules that are known not to print. Those that are found are added.
 */
export function mayPrint (root: ModuleRecord, silent: Set<ModuleRecord>): boolean {
  const seen = new Set([root])
  // A set also visits what is added to it meanwhile.
  for (const module of seen) {
    if (silent.has(module)) continue
    if (prints(module)) return true
    for (const requested of module.requested) seen.add(requested)
  }
  for (const module of seen) silent.add(module)
  return false
}

/** What a module requests while it runs is not known: a CommonJS file, and a module with `import()`. */
function prints (module: ModuleRecord): boolean {
  if (module instanceof SyntheticModule) return extname(module.file) === '.cjs'
  return module instanceof SourceModule &&
    (module.compiled.namesOutput || module.compiled.importsDynamically)
}
