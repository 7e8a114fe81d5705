// Errors that a command may end with: their exit codes, and their form for people and for programs.

import { CatalogError } from '../catalog/compiled/problem.ts'
import { ConfigError } from '../ops/config/config.ts'
import { ConnectionError } from './client/connection-error.ts'
import { CommandError, FAILED } from './command.ts'

interface Failure {
  readonly exitCode: number
  /** The result of the command with `--json`. */
  readonly json: { readonly error: object }
}

/** `undefined` for an error that no command expects. */
export function toCommandFailure (error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined
  const { message } = error
  if (error instanceof CommandError) return toJson(error.code, message, error.exitCode)
  if (error instanceof ConnectionError) return toJson('connection', message)
  if (error instanceof ConfigError) return toJson('settings', message)
  if (error instanceof CatalogError) return toJson('catalog', message, FAILED, { problems: error.problems })
  return undefined
}

function toJson (code: string, message: string, exitCode = FAILED, more: object = {}): Failure {
  return { exitCode, json: { error: { code, message, ...more, exitCode } } }
}
