// The order of linking and evaluation: each module after the modules that it requests.

import { evaluate } from './evaluation.ts'
import type { ModuleRecord } from './module-record.ts'
import { PackageModule } from './package-module.ts'

/**
 * Links a module and all that it requests: each import is bound to its export before any module runs
 * (ECMA-262, 16.2.1.6.1.2). Throws a SyntaxError, and then links no module.
 */
export function link (root: ModuleRecord): void {
  const unlinked = postOrder(root, ({ status }) => status === 'unlinked')
  for (const module of unlinked) module.checkBindings()
  for (const module of unlinked) module.instantiate()
  const positions = new Map(unlinked.map((module, index) => [module, index]))
  for (const [index, module] of unlinked.entries()) {
    module.bind((target) => (positions.get(target) ?? -1) >= index)
  }
  for (const module of unlinked) module.status = 'linked'
}

/** A module and all that it requests, each after the modules that it requests itself. */
export function postOrder (
  root: ModuleRecord, isIncluded: (module: ModuleRecord) => boolean
): ModuleRecord[] {
  const visited = new Set<ModuleRecord>()
  const order: ModuleRecord[] = []
  visit(root)
  return order

  function visit (module: ModuleRecord): void {
    if (visited.has(module) || !isIncluded(module)) return
    visited.add(module)
    for (const requested of module.requested) visit(requested)
    order.push(module)
  }
}

/**
 * Starts a linked module. Node links and evaluates a package in one step, so a package that Node has not
 * loaded yet is imported at its place in the order: after all modules before it have run. `ended` is in an
 * object, so that awaiting the start does not await the end.
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
