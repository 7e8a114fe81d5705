// Describes a loaded module: its exports, what it logged, its error. Plain JavaScript, because Node runs this
// file without a loader.

// Where the engine has no such symbol, some compilers give decorated classes this member and others do not.
if (!('metadata' in Symbol)) Object.defineProperty(Symbol, 'metadata', { value: Symbol('Symbol.metadata') })

/**
 * @param {() => Promise<object>} load
 * @returns {Promise<unknown>} only strings, lists and plain objects
 */
export async function describeLoading (load) {
  /** @type {string[]} */
  const log = []
  Object.assign(globalThis, { log: (/** @type {string} */ text) => { log.push(text) } })
  /** @type {{ exports?: unknown, error?: unknown }} */
  const outcome = {}
  try {
    const exports = await load()
    // The module may have started work that it does not await.
    await Reflect.get(exports, 'settled')
    outcome.exports = describe(exports)
  } catch (error) {
    outcome.error = describeError(error)
  }
  await new Promise((resolve) => setImmediate(resolve))
  return { ...outcome, log }
}

/**
 * Messages are compared only when the engine wrote them for a running module.
 * @param {unknown} error
 */
function describeError (error) {
  if (!(error instanceof Error)) return describe(error)
  const isOfLoader = error instanceof SyntaxError || 'code' in error
  return { error: error.constructor.name, message: isOfLoader ? 'of the loader' : error.message }
}

/**
 * @param {unknown} value
 * @param {readonly object[]} above
 * @returns {unknown}
 */
function describe (value, above = []) {
  if (typeof value === 'function') {
    return {
      function: describe(Reflect.getOwnPropertyDescriptor(value, 'name')?.value, [...above, value]),
      length: value.length,
      members: membersOf(value, above)
    }
  }
  if (typeof value !== 'object' || value === null) {
    return `${typeof value} ${Object.is(value, -0) ? '-0' : String(value)}`
  }
  if (above.includes(value)) return 'above'
  if (value instanceof Error) return describeError(value)
  if (value instanceof Promise) return 'promise'
  if (Array.isArray(value)) return value.map((item) => describe(item, [...above, value]))
  const prototype = Object.getPrototypeOf(value)
  const isModule = prototype === null && Reflect.get(value, Symbol.toStringTag) === 'Module'
  return {
    prototype: prototype === null ? 'null' : prototype.constructor?.name,
    ...(isModule ? { isModule, isExtensible: Object.isExtensible(value) } : {}),
    members: membersOf(value, above)
  }
}

/**
 * @param {object} value
 * @param {readonly object[]} above
 */
function membersOf (value, above) {
  return Reflect.ownKeys(value).filter(
    (key) => typeof value !== 'function' || !['length', 'name', 'prototype'].includes(String(key))
  ).map((key) => {
    try {
      const { value: member, ...attributes } = Reflect.getOwnPropertyDescriptor(value, key) ?? {}
      return [
        String(key), describe(member, [...above, value]),
        Object.entries(attributes).map(
          ([name, is]) => `${name} ${typeof is === 'function' ? 'function' : is}`
        ).sort()
      ]
    } catch (error) {
      return [String(key), describeError(error)]
    }
  })
}
