// Node links and evaluates a package in one step, and only when it is asked to. A package that Node has not
// loaded yet is therefore imported when all that stands before it has run, as its place in the order of
// evaluation demands.

import { evaluate } from './evaluation.ts'
import { postOrder } from './linking.ts'
import type { ModuleRecord } from './module-record.ts'
import { PackageModule } from './package-module.ts'

/**
 * Evaluates a linked module. `ended` is in an object, so that who waits for the start does not wait for the
 * end.
 */
export async function evaluateInOrder (
  root: ModuleRecord, deadlineMs: number
): Promise<{ readonly ended: Promise<void> }> {
  const order = postOrder(root, ({ status }) => status !== 'evaluated')
  const last = order.findLastIndex(isUnloaded)
  const inCycles = membersOfCycles(order)
  for (const module of order.slice(0, last + 1)) {
    if (isUnloaded(module)) {
      await module.load(deadlineMs)
      // Only now the names of its exports are known.
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

/** The modules that reach one after themselves. To evaluate them is to evaluate that one too. */
function membersOfCycles (order: readonly ModuleRecord[]): Set<ModuleRecord> {
  const members = new Set<ModuleRecord>()
  const reach = new Map<ModuleRecord, number>()
  const positions = new Map(order.map((module, index) => [module, index]))
  for (const [index, module] of order.entries()) {
    const farthest = Math.max(
      index,
      ...module.requested.map(
        (requested) => Math.max(positions.get(requested) ?? -1, reach.get(requested) ?? -1)
      )
    )
    reach.set(module, farthest)
    if (farthest > index) members.add(module)
  }
  return members
}
