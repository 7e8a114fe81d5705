// Errors of a module that arise before it runs.

/** A line counts from 1, a column from 0. */
export interface Place { readonly file: string, readonly line: number, readonly column: number }

/** The stack names the author's file. The property `loc` has the line and the column. */
export function syntaxError (message: string, place: Place | undefined): SyntaxError {
  return withPlace(new SyntaxError(message), place)
}

/** An error with one of the codes of Node's loader. */
export function loadError (ErrorType: ErrorConstructor, code: string, message: string, place?: Place): Error {
  return withPlace(Object.assign(new ErrorType(message), { code }), place)
}

export function withPlace<E extends Error> (error: E, place: Place | undefined): E {
  if (place === undefined) return error
  const { file, line, column } = place
  error.stack = `${error.name}: ${error.message}\n    at ${file}:${line}:${column + 1}`
  return Object.assign(error, { loc: { line, column } })
}
