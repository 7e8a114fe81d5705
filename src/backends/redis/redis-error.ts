// Errors of the driver, without what was sent. The driver's own errors carry the arguments of their commands:
// records, session ids, passwords.

/**
 * What may be logged of an error of the driver: its message without arguments, and where in the code it
 * arose.
 */
export class RedisError extends Error {
  /** The name of the command that failed. Absent where no command was sent. */
  declare command?: string
  /** A code of Node, such as ECONNREFUSED. */
  declare code?: string

  constructor (message: string) {
    super(message)
    this.name = 'RedisError'
  }
}

/** Redis repeats at most 128 bytes of an argument. */
const REPEATED_BYTES = 128
/** A shorter argument may be part of any message. */
const MIN_LENGTH = 3
const QUOTED = /'[^']*'|`[^`]*`|"[^"]*"/g
const FRAME = /^\s+at /

export function toRedisError (error: unknown): RedisError {
  if (error instanceof RedisError) return error
  if (!(error instanceof Error)) return new RedisError('the driver threw what is no error')
  const { name, args } = readCommand(error)
  const redisError = new RedisError(withoutArguments(readMessage(error), args))
  const frames = (error.stack ?? '').split('\n').filter((line) => FRAME.test(line))
  redisError.stack = [`${redisError.name}: ${redisError.message}`, ...frames].join('\n')
  if (typeof name === 'string') redisError.command = name
  if ('code' in error && typeof error.code === 'string') redisError.code = error.code
  return redisError
}

/** Where several addresses, or all nodes of a cluster, failed, the reasons are in further errors. */
function readMessage (error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((one) => toRedisError(one).message).join(', ')
  const last = 'lastNodeError' in error ? error.lastNodeError : undefined
  return last instanceof Error ? `${error.message} (${toRedisError(last).message})` : error.message
}

function readCommand (error: Error): { readonly name?: unknown, readonly args: readonly string[] } {
  const command = 'command' in error ? error.command : undefined
  if (typeof command !== 'object' || command === null) return { args: [] }
  const { name, args }: { name?: unknown, args?: unknown } = command
  return { name, args: Array.isArray(args) ? args.map(toRepeated) : [] }
}

/** As much of an argument as Redis may repeat. */
function toRepeated (arg: unknown): string {
  return Buffer.isBuffer(arg) ? arg.toString('utf8', 0, REPEATED_BYTES) : String(arg).slice(0, REPEATED_BYTES)
}

function withoutArguments (message: string, args: readonly string[]): string {
  const [start = ''] = message.split(', with args beginning with')
  const isRepeated = (text: string) => args.some((arg) => arg.includes(text))
  let cleaned = start.replaceAll(QUOTED, (quoted) => isRepeated(quoted.slice(1, -1)) ? '…' : quoted)
  // The longest first, because one argument may begin another.
  for (const arg of args.toSorted((a, b) => b.length - a.length)) {
    if (arg.length >= MIN_LENGTH) cleaned = cleaned.replaceAll(arg, '…')
  }
  return cleaned
}
