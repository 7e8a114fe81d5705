// What the commands of `trivet` have in common.

import type { Command } from 'commander'
import { toPlain, toPlainJson } from '../../base/words.ts'
import type { LoadGuard } from '../../catalog/compiled/load-guard.ts'

/** Exit codes. */
export const FAILED = 1
export const MISUSED = 2

/** A command ends early. The message is for people, and says what to do. */
export class CommandError extends Error {
  /** A short name of the kind of error, for programs. */
  readonly code: string
  readonly exitCode: number
  /** What programs get beside the message. */
  readonly details: object

  constructor (code: string, message: string, exitCode = FAILED, details: object = {}) {
    super(message)
    this.code = code
    this.exitCode = exitCode
    this.details = details
  }
}

/** The arguments cannot be used. The message says which, and what was expected. */
export class UsageError extends CommandError {
  constructor (message: string) {
    super('usage', message, MISUSED)
  }
}

/** A person at a terminal. */
export interface Terminal {
  /** Resolves to the line that is typed, and to `undefined` when there are no more lines. */
  ask (prompt: string): Promise<string | undefined>
}

/** What a command uses of the process. */
export interface Surroundings {
  readonly environment: { readonly [variable: string]: string | undefined }
  /** The value of TRIVET_ADMIN_TOKEN. A secret: the environment, which modules can read, lacks it. */
  readonly adminToken: string | undefined
  /** The version of this package. */
  readonly version: string
  /** How a package.json names this package: a version, or a file, a repository or a folder. */
  readonly dependency: string
  /** Is told of errors that code of a catalog throws outside every call. */
  readonly guard: LoadGuard
  /** `undefined` if nobody can be asked. */
  readonly terminal: Terminal | undefined
  out (text: string): void
  /** Resolves to the error, for people, if not all of the output so far could be written. */
  findLoss (): Promise<Error | undefined>
  err (text: string): void
  /** Sets what is written to standard error when Ctrl-C ends the process. The later text counts. */
  onInterrupt (text: string): void
  /** Serves until a signal ends the process. Resolves when the service listens. */
  serve (environment: Surroundings['environment'], options: ServeOptions): Promise<void>
}

export interface ServeOptions {
  readonly spell: Spell
  /** Present if the service is for the author of the catalog. */
  readonly author?: AuthorOptions | undefined
}

export interface AuthorOptions {
  /** The caller of a request without a token. `undefined`: the author has not said. */
  readonly caller: { readonly subject?: string | undefined, readonly scopes: readonly string[] } | undefined
  readonly hasConsole: boolean
}

/** How the reader of a problem wrote a setting: `TRIVET_CATALOG`, or `--catalog`. */
export type Spell = (variable: string) => string

/** Adds a command to the program. Its action calls `finish` for an exit code other than 0. */
export type AddCommand = (
  program: Command, surroundings: Surroundings, finish: (exitCode: number) => void
) => void

/** The argument of commands that load a catalog: its name, and its help. */
export const FOLDER = ['[folder]', 'the catalog; ./catalog, or TRIVET_CATALOG, by default'] as const

/** The argument of commands that take a service too. */
export const FOLDER_OR_URL = ['[folder or URL]', `${FOLDER[1]}; or the URL of a service`] as const

/** Whether an argument names a service instead of a folder. */
export function isUrl (text: string): boolean {
  return /^https?:\/\//i.test(text)
}

/** A host with a port, such as localhost:3000/mcp. No folder and no tool has such a name. */
const HOST_WITH_PORT = /^(?:[a-z\d.-]+|\[[a-f\d:.]+\]):\d{1,5}(?:\/|$)/i

/** Throws a UsageError for a URL of another scheme than those of `isUrl`, and for one without a scheme. */
export function assertFolder (text: string): void {
  if (HOST_WITH_PORT.test(text)) {
    throw new UsageError(`${toPlain(text)} has no http:// or https:// before it: write http://${toPlain(text)}`)
  }
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return
  throw new UsageError(`name a folder, or a URL that begins with http:// or https://, not ${toPlain(text)}`)
}

/** Splits the value of `--scopes`. */
export function splitScopes (text: string): string[] {
  return text.split(/[\s,]+/).filter((scope) => scope !== '')
}

/** The first sentence or line, for a list. */
export function firstSentence (text: string): string {
  return toPlain(text.split(/(?<=[.!?])\s|\n/)[0] ?? '')
}

/** The result of a command, for programs. */
export function toJsonText (result: unknown): string {
  return `${toPlainJson(JSON.stringify(result, undefined, 2))}\n`
}
