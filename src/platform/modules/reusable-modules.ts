// Finds the modules of a graph that another graph can take over without evaluating them again: their texts
// are the same, and so are all modules that they request, directly or not.

import type { CompiledModules } from './compiled-module.ts'
import type { ModuleRecord } from './module-record.ts'
import { PackageModule } from './package-module.ts'
import type { Resolver } from './resolver.ts'
import { SourceModule } from './source-module.ts'
import type { SyntheticModule } from './synthetic-module.ts'
import { yieldToRequests } from '../../base/turns.ts'

/** A module of a file that was read. */
export type FileModule = SourceModule | SyntheticModule

/** Closed: what a module of the set requests is in the set too. */
export type ReusableModules = ReadonlySet<ModuleRecord>

export async function findReusable (
  files: readonly FileModule[], compiled: CompiledModules, resolver: Resolver
): Promise<ReusableModules> {
  const reusable = new Set<ModuleRecord>()
  for (const module of files) {
    await yieldToRequests()
    if (
      module instanceof SourceModule && isSettled(module) && await isUnchanged(module, compiled) &&
        requestsAreUnchanged(module, resolver)
    ) {
      reusable.add(module)
    }
  }
  await yieldToRequests()
  for (const module of [...reusable]) {
    for (const requested of module.requested) if (requested instanceof PackageModule) reusable.add(requested)
  }
  await removeImporters(files, reusable)
  while (removeWritten(files, reusable)) await removeImporters(files, reusable)
  return reusable
}

export function filesOf (modules: ReusableModules): string[] {
  return [...modules].flatMap((module) => module instanceof SourceModule ? [module.file] : [])
}

/**
 * A module with `import()` is not: it may import a file at any time, and must not get it from an old graph.
 * Nor is one that registers for others: its importers may not be the same any more.
 */
function isSettled ({ status, evaluation, compiled, registersForOthers }: SourceModule): boolean {
  return status === 'evaluated' && evaluation.error === undefined && !compiled.importsDynamically &&
    !registersForOthers
}

async function isUnchanged (module: SourceModule, compiled: CompiledModules): Promise<boolean> {
  return await compiled.read(module.file).then((now) => now === module.compiled, () => false)
}

/** A link may lead to another file by now. */
function requestsAreUnchanged (module: SourceModule, resolver: Resolver): boolean {
  return module.compiled.requests.every((request) => {
    const { specifier } = request
    const requested = module.requestedBy(request)
    if (requested === undefined) return false
    // A module of the service is found by its specifier.
    if (requested.url === specifier) return true
    try {
      return resolver.resolve(specifier, module.url) === requested.url
    } catch {
      return false
    }
  })
}

/**
 * Removes the modules that a module outside the set may have written to, such as a list of hooks: what it
 * wrote would stay. Returns whether there were any.
 */
function removeWritten (files: readonly FileModule[], reusable: Set<ModuleRecord>): boolean {
  const before = reusable.size
  const visited = new Set<ModuleRecord>()
  const waiting: ModuleRecord[] = files.filter(
    (file) => file instanceof SourceModule && !reusable.has(file) && file.compiled.actsAtTopLevel
  )
  for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
    if (visited.has(module) || !(module instanceof SourceModule)) continue
    visited.add(module)
    reusable.delete(module)
    waiting.push(...module.requested)
  }
  return reusable.size < before
}

/** Removes each module that requests, directly or not, a module that is not in the set. */
async function removeImporters (
  files: readonly FileModule[], reusable: Set<ModuleRecord>
): Promise<void> {
  const importers = new Map<ModuleRecord, ModuleRecord[]>()
  const outdated: ModuleRecord[] = []
  for (const module of files) {
    const turn = yieldToRequests()
    if (turn !== undefined) await turn
    for (const requested of module.requested) {
      const requesting = importers.get(requested)
      if (requesting === undefined) importers.set(requested, [module])
      else requesting.push(module)
      if (!reusable.has(requested)) outdated.push(module)
    }
  }
  for (let module = outdated.pop(); module !== undefined; module = outdated.pop()) {
    if (reusable.delete(module)) outdated.push(...importers.get(module) ?? [])
  }
}
