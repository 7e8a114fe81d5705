// The names of an object's members. To list those of a large object takes 10 ms, and several readers of one
// check need them.

const LARGE = 1000

const namesOfLarge = new WeakMap<object, readonly string[]>()

/** Lists the names. Those of a large object are listed once, and may lack members that it has got since. */
export function memberNames (value: object): readonly string[] {
  const listed = namesOfLarge.get(value)
  if (listed !== undefined) return listed
  const names = Object.keys(value)
  if (names.length > LARGE) namesOfLarge.set(value, names)
  return names
}
