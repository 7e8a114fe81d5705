// The text of a library's error for the log. The error itself may hold claims, tokens or whole answers.

/** The message, and the code of an error of the network below it. */
export function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const { message, cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === undefined ? message : `${message} (${String(code)})`
}
