// Node links and evaluates a package in one step. A package that Node has not loaded yet is therefore
// imported at its place in the order of evaluation: after all modules before it have run.

import { evaluate } from './evaluation.ts'
import { postOrder } from './linking.ts'
import type { ModuleRecord } from './module-record.ts'
import { PackageModule } from './package-module.ts'

/** Starts a linked module. `ended` is in an object, so that awaiting the start does not await the end. */
export async function evaluateInOrder (
  root: ModuleRecord, deadlineMs: number
): Promise<{ readonly ended: Promise<void> }> {
  const order = postOrder(root, ({ status }) => status !== 'evaluated')
  const last = order.findLastIndex(isUnloaded)
  const inCycles = membersOfCycles(order)
  for (const module of order.slice(0, last + 1)) {
    if (isUnloaded(module)) {
      await module.load(deadlineMs)
      // The names of its exports are known from here on.
      for (const importer of order) if (importer.status !== 'evaluated') importer.checkBindings()
    } else if (!inCycles.has(module)) {
      evaluate(module).catch(() => {})
      if (module.evaluation.error !== undefined) break
    }
  }
  return { ended: evaluate(root) }
}

function isUnloaded (module: ModuleRecord): module is PackageModule {
  return module instanceof PackageModule && !module.isLoaded
}

/**
 * The modules that request, directly or not, a module after themselves in the order. Evaluating them
 * evaluates that module too.
 */
function membersOfCycles (order: readonly ModuleRecord[]): Set<ModuleRecord> {
  const members = new Set<ModuleRecord>()
  const reach = new Map<ModuleRecord, number>()
  const positions = new Map(order.map((module, index) => [module, index]))
  for (const [index, module] of order.entries()) {
    const ends = module.requested.map(
      (requested) => Math.max(positions.get(requested) ?? -1, reach.get(requested) ?? -1)
    )
    const farthest = Math.max(index, ...ends)
    reach.set(module, farthest)
    if (farthest > index) members.add(module)
  }
  return members
}
