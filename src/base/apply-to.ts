/** Calls `next` with the value, or when the value has come. Stays synchronous if the value is no promise. */
export function applyTo<T, U> (value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
