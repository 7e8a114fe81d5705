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

  return new Proxy(target, new NamespaceHandler(getters))
}

/** The traps are methods: a closure for each of them would be made for each module. */
class NamespaceHandler implements ProxyHandler<Namespace> {
  readonly #getters: ReadonlyMap<string, Getter>

  constructor (getters: ReadonlyMap<string, Getter>) {
    this.#getters = getters
  }

  get (target: Namespace, key: string | symbol): unknown {
    const getter = this.#getterOf(key)
    return getter === undefined ? Reflect.get(target, key) : read(String(key), getter)
  }

  getOwnPropertyDescriptor (target: Namespace, key: string | symbol): PropertyDescriptor | undefined {
    const getter = this.#getterOf(key)
    if (getter === undefined) return Reflect.getOwnPropertyDescriptor(target, key)
    return { value: read(String(key), getter), writable: true, enumerable: true, configurable: false }
  }

  defineProperty (target: Namespace, key: string | symbol, descriptor: PropertyDescriptor): boolean {
    const current = this.getOwnPropertyDescriptor(target, key)
    return current !== undefined &&
      Object.entries(descriptor).every(
        ([field, value]) => field in current && Object.is(value, Reflect.get(current, field))
      )
  }

  set (): boolean {
    return false
  }

  #getterOf (key: string | symbol): Getter | undefined {
    return typeof key === 'string' ? this.#getters.get(key) : undefined
  }
}

function read (name: string, getter: Getter): unknown {
  try {
    return getter()
  } catch {
    throw new ReferenceError(`Cannot access '${name}' before initialization`)
  }
}

function byCodeUnit (a: string, b: string): number {
  return a < b ? -1 : 1
}
