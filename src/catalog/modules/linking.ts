// Linking: each import is bound to its export before any module runs (ECMA-262, 16.2.1.6.1.2).

import type { ModuleRecord } from './module-record.ts'

/** Links a module and all that it requests. Throws a SyntaxError, and then links no module. */
export function link (root: ModuleRecord): void {
  const unlinked = postOrder(root, ({ status }) => status === 'unlinked')
  for (const module of unlinked) module.checkBindings()
  for (const module of unlinked) module.instantiate()
  const positions = new Map(unlinked.map((module, index) => [module, index]))
  for (const [index, module] of unlinked.entries()) {
    module.bind((other) => (positions.get(other) ?? -1) >= index)
  }
  for (const module of unlinked) module.status = 'linked'
}

/** A module and all that it requests, each after the modules that it requests itself. */
export function postOrder (
  root: ModuleRecord, isIncluded: (module: ModuleRecord) => boolean
): ModuleRecord[] {
  const seen = new Set<ModuleRecord>()
  const order: ModuleRecord[] = []
  visit(root)
  return order

  function visit (module: ModuleRecord): void {
    if (seen.has(module) || !isIncluded(module)) return
    seen.add(module)
    for (const requested of module.requested) visit(requested)
    order.push(module)
  }
}
