// Removes sent data from errors of the driver. The driver's errors contain the arguments of commands:
// records, session ids, passwords.

import { codeOf } from '../../../../base/words.ts'
import { DriverError } from '../driver-error.ts'
import { StoreUnavailable } from '../../records/state-store.ts'

/** Has the message without arguments. */
export class RedisError extends DriverError {
  override readonly name = 'RedisError'
  /** The name of the command that failed. Absent if no command was sent. */
  declare command?: string
}

/** An error of Redis contains at most 128 bytes of an argument. */
const REPEATED_BYTES = 128
/** Shorter arguments may occur in a message by chance. */
const MIN_LENGTH = 3
const QUOTED = /'[^']*'|`[^`]*`|"[^"]*"/g

const NOT_CONNECTED = 'Redis is not connected'
/** What operators read instead: the driver names its own options, and Redis those of clients. */
const PLAIN_TEXTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^Stream isn't writeable/, NOT_CONNECTED],
  [/^Reached the max retries per request/, 'the connection to Redis was lost'],
  [/^NOAUTH /, 'NOAUTH: Redis asks for a password']
]

/** Whether the error follows from an earlier one, which has the reason. */
export function isNotConnected ({ message }: RedisError): boolean { return message === NOT_CONNECTED }

/** For `catch` of a promise. */
export function throwRedisError (error: unknown): never { throw toRedisError(error) }

/** For `catch` of a promise. */
export function throwUnavailable (error: unknown): never { throw new StoreUnavailable(toRedisError(error)) }

export function toRedisError (error: unknown): RedisError {
  if (error instanceof RedisError) return error
  if (!(error instanceof Error)) return new RedisError('the driver threw a value that is not an error')
  const { name, args } = readCommand(error)
  const message = withoutArguments(readMessage(error), args)
  const redisError = new RedisError(message, codeOf(error)).withFramesOf(error)
  if (typeof name === 'string') redisError.command = name
  return redisError
}

/** If several addresses, or all nodes of a cluster, failed, the reasons are in nested errors. */
function readMessage (error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((err) => toRedisError(err).message).join(', ')
  const last = 'lastNodeError' in error ? error.lastNodeError : undefined
  if (last instanceof Error) return `${error.message} (${toRedisError(last).message})`
  const [, text = error.message] = PLAIN_TEXTS.find(([pattern]) => pattern.test(error.message)) ?? []
  return text
}

function readCommand (error: Error): { readonly name?: unknown, readonly args: readonly string[] } {
  const command = 'command' in error ? error.command : undefined
  if (typeof command !== 'object' || command === null) return { args: [] }
  const { name, args }: { name?: unknown, args?: unknown } = command
  return { name, args: Array.isArray(args) ? args.map(toRepeated) : [] }
}

/** The part of an argument that an error may contain. */
function toRepeated (arg: unknown): string {
  return Buffer.isBuffer(arg) ? arg.toString('utf8', 0, REPEATED_BYTES) : String(arg).slice(0, REPEATED_BYTES)
}

function withoutArguments (message: string, args: readonly string[]): string {
  const [start = ''] = message.split(', with args beginning with')
  const isRepeated = (text: string) => args.some((arg) => arg.includes(text))
  let cleaned = start.replaceAll(QUOTED, (quoted) => isRepeated(quoted.slice(1, -1)) ? '…' : quoted)
  // The longest first, because one argument may be the start of another.
  for (const arg of args.toSorted((a, b) => b.length - a.length)) {
    if (arg.length >= MIN_LENGTH) cleaned = cleaned.replaceAll(arg, '…')
  }
  return cleaned
}
