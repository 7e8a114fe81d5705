// Evaluates modules by the algorithms of the specification, with their names (ECMA-262, 16.2.1.6.1.3).

import { timers } from '../../base/time.ts'
import { lateError, type ModuleRecord, type PromiseWithResolvers } from './module-record.ts'

/**
 * Evaluates a linked module and all that it requests. Modules that await nothing have run when it returns.
 */
export function evaluate (requested: ModuleRecord): Promise<void> {
  const module = requested.evaluation.cycleRoot ?? requested
  const { evaluation } = module
  if (evaluation.capability !== undefined) return evaluation.capability.promise
  const capability = withResolvers()
  evaluation.capability = capability
  const stack: ModuleRecord[] = []
  try {
    innerModuleEvaluation(module, stack, 0)
    if (typeof evaluation.asyncOrder !== 'number') capability.resolve()
  } catch (error) {
    for (const entered of stack) {
      entered.status = 'evaluated'
      entered.evaluation.error = { value: error }
    }
    capability.reject(error)
  }
  return capability.promise
}

function innerModuleEvaluation (module: ModuleRecord, stack: ModuleRecord[], startIndex: number): number {
  const { evaluation } = module
  if (module.status === 'evaluating-async' || module.status === 'evaluated') {
    if (evaluation.error !== undefined) throw evaluation.error.value
    return startIndex
  }
  if (module.status === 'evaluating') return startIndex
  module.status = 'evaluating'
  evaluation.dfsIndex = startIndex
  evaluation.dfsAncestorIndex = startIndex
  let index = startIndex + 1
  stack.push(module)
  for (const requested of module.requested) {
    index = innerModuleEvaluation(requested, stack, index)
    let dependency = requested
    if (requested.status === 'evaluating') {
      evaluation.dfsAncestorIndex = Math.min(
        evaluation.dfsAncestorIndex, requested.evaluation.dfsAncestorIndex
      )
    } else {
      dependency = requested.evaluation.cycleRoot ?? requested
      if (dependency.evaluation.error !== undefined) throw dependency.evaluation.error.value
    }
    if (typeof dependency.evaluation.asyncOrder === 'number') {
      evaluation.pendingAsyncDependencies++
      dependency.evaluation.asyncParents.push(module)
    }
  }
  if (evaluation.pendingAsyncDependencies > 0 || module.isAsync) {
    evaluation.asyncOrder = nextAsyncOrder++
    if (evaluation.pendingAsyncDependencies === 0) executeAsyncModule(module)
  } else {
    module.run()
  }
  if (evaluation.dfsAncestorIndex === evaluation.dfsIndex) finishCycle(module, stack)
  return index
}

let nextAsyncOrder = 0

/** Marks all modules of a cycle as evaluated at the same time. */
function finishCycle (root: ModuleRecord, stack: ModuleRecord[]): void {
  for (let module = stack.pop(); module !== undefined; module = stack.pop()) {
    module.status = module.evaluation.asyncOrder === 'unset' ? 'evaluated' : 'evaluating-async'
    module.evaluation.cycleRoot = root
    if (module === root) return
  }
}

/**
 * The deadline is a timer: a promise between the module and its parents would change the order of modules.
 */
function executeAsyncModule (module: ModuleRecord): void {
  const { deadlineMs } = module
  const timer = timers.setTimeout(() => fail(lateError(deadlineMs)), deadlineMs)
  Promise.resolve(module.run()).then(() => {
    timers.clear(timer)
    asyncModuleExecutionFulfilled(module)
  }, fail)

  function fail (error: unknown): void {
    timers.clear(timer)
    module.noteError(error)
    asyncModuleExecutionRejected(module, error)
  }
}

function asyncModuleExecutionFulfilled (module: ModuleRecord): void {
  if (module.status === 'evaluated') return
  end(module)
  module.evaluation.capability?.resolve()
  const available = new Set<ModuleRecord>()
  gatherAvailableAncestors(module, available)
  const inOrder = [...available].toSorted(
    (a, b) => Number(a.evaluation.asyncOrder) - Number(b.evaluation.asyncOrder)
  )
  for (const ancestor of inOrder) {
    if (ancestor.isAsync) executeAsyncModule(ancestor)
    else executeSyncModule(ancestor)
  }
}

/** Runs a module that has no top-level await, after its asynchronous dependencies. */
function executeSyncModule (module: ModuleRecord): void {
  if (module.status === 'evaluated') return
  try {
    module.run()
    end(module)
    module.evaluation.capability?.resolve()
  } catch (error) {
    asyncModuleExecutionRejected(module, error)
  }
}

function end (module: ModuleRecord): void {
  module.evaluation.asyncOrder = 'done'
  module.status = 'evaluated'
}

function gatherAvailableAncestors (module: ModuleRecord, available: Set<ModuleRecord>): void {
  for (const parent of module.evaluation.asyncParents) {
    if (available.has(parent) || parent.evaluation.cycleRoot?.evaluation.error !== undefined) continue
    parent.evaluation.pendingAsyncDependencies--
    if (parent.evaluation.pendingAsyncDependencies > 0) continue
    available.add(parent)
    if (!parent.isAsync) gatherAvailableAncestors(parent, available)
  }
}

function asyncModuleExecutionRejected (module: ModuleRecord, error: unknown): void {
  if (module.status === 'evaluated') return
  end(module)
  module.evaluation.error = { value: error }
  for (const parent of module.evaluation.asyncParents) asyncModuleExecutionRejected(parent, error)
  module.evaluation.capability?.reject(error)
}

function withResolvers (): PromiseWithResolvers {
  let [resolve, reject]: [() => void, (reason: unknown) => void] = [() => {}, () => {}]
  const promise = new Promise<void>((...ends) => { [resolve, reject] = ends })
  // An evaluation may be started by a caller that does not await it.
  promise.catch(() => {})
  return { promise, resolve, reject }
}
