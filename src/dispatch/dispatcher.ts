import { methodNotFound } from '../protocol/errors.ts'
import type { Method } from './method.ts'

export interface Dispatcher {
  /** Throws method not found. */
  find (name: string): Method
}

/** Knows every method by its name; never changes when one is added. */
export function createDispatcher (methods: readonly Method[]): Dispatcher {
  const byName = new Map(methods.map((method) => [method.name, method]))
  return {
    find (name) {
      const method = byName.get(name)
      if (method === undefined) throw methodNotFound(name)
      return method
    }
  }
}
