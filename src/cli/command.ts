// What the commands of `trivet` have in common.

import type { Command } from 'commander'
import type { LoadGuard } from '../catalog/load-guard.ts'

/** The arguments cannot be used. The message says which, and what was expected. */
export class UsageError extends Error {}

/** What a command uses of the process. */
export interface Surroundings {
  readonly environment: { readonly [variable: string]: string | undefined }
  /** Of this package. */
  readonly version: string
  /** How a package.json names this package: its version, or the folder of a checkout. */
  readonly dependency: string
  /** Is told of errors that code of a catalog throws outside every call. */
  readonly guard: LoadGuard
  out (text: string): void
  err (text: string): void
  /** Serves until a signal ends the process. Resolves when the service listens. */
  serve (environment: Surroundings['environment'], options: ServeOptions): Promise<void>
}

export interface ServeOptions {
  readonly spell: Spell
  /** Whether the log has lines for people instead of JSON. */
  readonly isForPeople: boolean
}

/** How the reader of a problem wrote a setting: `TRIVET_CATALOG`, or `--catalog`. */
export type Spell = (variable: string) => string

/** Adds a command to the program. Its action calls `finish` for an exit code other than 0. */
export interface CommandModule {
  add (program: Command, surroundings: Surroundings, finish: (exitCode: number) => void): void
}

/** The argument of commands that load a catalog: its name, and its help. */
export const FOLDER = ['[folder]', 'the catalog; ./catalog, or TRIVET_CATALOG, by default'] as const

/** Exit codes. */
export const FAILED = 1
export const MISUSED = 2
