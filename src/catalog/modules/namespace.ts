// Module namespace objects (ECMA-262, 10.4.6).

import type { Getter } from './compiled-module.ts'

export type Namespace = { readonly [name: string]: unknown }

/**
 * The specification describes each export as a property that is writable and not configurable, and the target
 * has such properties. The traps read the binding and refuse writes, which no ordinary property can do.
 */
export function createNamespace (getters: ReadonlyMap<string, Getter>): Namespace {
  const names = [...getters.keys()].toSorted(byCodeUnit)
  const target: { [name: string | symbol]: unknown } = Object.create(null)
  for (const name of names) {
    Object.defineProperty(target, name, { value: undefined, writable: true, enumerable: true })
  }
  Object.defineProperty(target, Symbol.toStringTag, { value: 'Module' })
  Object.preventExtensions(target)

  function read (name: string, getter: Getter): unknown {
    try {
      return getter()
    } catch {
      throw new ReferenceError(`Cannot access '${name}' before initialization`)
    }
  }

  function getterOf (key: string | symbol): Getter | undefined {
    return typeof key === 'string' ? getters.get(key) : undefined
  }

  function describe (key: string | symbol): PropertyDescriptor | undefined {
    const getter = getterOf(key)
    if (getter === undefined) return Reflect.getOwnPropertyDescriptor(target, key)
    return { value: read(String(key), getter), writable: true, enumerable: true, configurable: false }
  }

  return new Proxy(target, {
    get (_target, key) {
      const getter = getterOf(key)
      return getter === undefined ? Reflect.get(target, key) : read(String(key), getter)
    },
    getOwnPropertyDescriptor: (_target, key) => describe(key),
    defineProperty (_target, key, wanted) {
      const current = describe(key)
      return current !== undefined &&
        Object.entries(wanted).every(
          ([field, value]) => field in current && Object.is(value, Reflect.get(current, field))
        )
    },
    set: () => false
  })
}

function byCodeUnit (a: string, b: string): number {
  return a < b ? -1 : 1
}
