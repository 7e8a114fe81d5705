// Errors that a module has before any of it runs.

/** A line counts from 1, a column from 0. */
export interface Place { readonly file: string, readonly line: number, readonly column: number }

/** Its stack names the author's file. `loc` says the same to programs. */
export function syntaxError (message: string, place: Place | undefined): SyntaxError {
  return placed(new SyntaxError(message), place)
}

/** An error with a code, as Node's own loader throws it. */
export function loadError (ErrorType: ErrorConstructor, code: string, message: string, place?: Place): Error {
  return placed(Object.assign(new ErrorType(message), { code }), place)
}

export function placed<E extends Error> (error: E, place: Place | undefined): E {
  if (place === undefined) return error
  const { file, line, column } = place
  error.stack = `${error.name}: ${error.message}\n    at ${file}:${line}:${column + 1}`
  return Object.assign(error, { loc: { line, column } })
}
