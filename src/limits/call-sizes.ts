// How large one call may be: its arguments and its result.

import { argumentsTooLarge, resultTooLarge, type LimitReached } from '../protocol/errors.ts'
import type { CallLimits } from './call-limits.ts'

/** `undefined` if the limits allow the arguments. */
export function findArgumentExcess (
  args: object, { argumentDepth, argumentBytes }: CallLimits
): LimitReached | undefined {
  if (argumentDepth !== undefined && isDeeper(args, argumentDepth)) {
    return argumentsTooLarge(`the arguments may be nested ${argumentDepth} levels deep`)
  }
  return argumentBytes !== undefined && Buffer.byteLength(JSON.stringify(args)) > argumentBytes
    ? argumentsTooLarge(`the arguments may have ${argumentBytes} bytes of JSON`)
    : undefined
}

/** `undefined` if the limits allow the result. */
export function findResultExcess (
  result: string | Buffer, { resultBytes }: CallLimits
): LimitReached | undefined {
  // A character has at most three bytes. Most results are so short that they need not be measured.
  if (resultBytes === undefined || result.length * 3 <= resultBytes) return undefined
  return Buffer.byteLength(result) > resultBytes
    ? resultTooLarge(`a result may have ${resultBytes} bytes of JSON`)
    : undefined
}

function isDeeper (value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return maxDepth === 0 || Object.values(value).some((member) => isDeeper(member, maxDepth - 1))
}
