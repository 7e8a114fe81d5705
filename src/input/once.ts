import { findJsonFault } from './json-fault.ts'

/** Does it, and rejects where its result could not be carried to another round. */
export async function runOnce<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
  if (typeof key !== 'string' || key === '') throw new Error('once: the key must be a text that is not empty')
  const result = await fn()
  const fault = result === undefined ? undefined : findJsonFault(result, 'the result')
  if (fault !== undefined) throw new Error(`once, ${JSON.stringify(key)}: the result must be a JSON value, because the client carries it to the next round, but ${fault}`)
  return result
}
