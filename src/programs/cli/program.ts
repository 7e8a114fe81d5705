// The command line of Trivet: `trivet`, and the commands beside serving.

import { Command, CommanderError } from 'commander'
import { toPlainLines } from '../../base/words.ts'
import { CatalogError } from '../../catalog/compiled/problem.ts'
import { ConfigError } from '../../ops/config/config.ts'
import { callCommand } from './call.ts'
import { checkCommand } from './check.ts'
import {
  CommandError, FAILED, MISUSED, toJsonText, UsageError, type AddCommand, type Surroundings
} from './command.ts'
import { completionCommand } from './completion.ts'
import { diffCommand } from './diff.ts'
import { initCommand } from './init.ts'
import { listCommand } from './list.ts'
import { devCommand, serveCommand } from './serve.ts'
import { stateCommand } from './state.ts'
import { tasksCommand } from './tasks.ts'
import { tokenCommand } from './token.ts'

const COMMANDS: readonly AddCommand[] = [
  initCommand, devCommand, serveCommand, callCommand, checkCommand, diffCommand, listCommand, tasksCommand,
  stateCommand, tokenCommand, completionCommand
]

const EXIT_CODES = `
Exit codes: 0 for success, ${FAILED} for a problem, ${MISUSED} for arguments that cannot be used.`

const PROGRAM_FLAGS = ['-h', '--help', '-V', '--version']

/** `trivet --port 8080` serves. */
function isOnlyFlags ([first = '']: readonly string[]): boolean {
  return first.startsWith('-') && !PROGRAM_FLAGS.includes(first)
}

/**
 * Runs a command. Resolves to its exit code. Rejects with the error of a command that did not expect it.
 * With `--json` the errors are JSON on standard output, as results are.
 */
export async function runProgram (args: readonly string[], terminal: Surroundings): Promise<number> {
  const exitCode = await runCommand(args, terminal)
  const loss = await terminal.findLoss()
  if (loss === undefined) return exitCode
  terminal.err(`${loss.message}\n`)
  return exitCode === 0 ? FAILED : exitCode
}

async function runCommand (args: readonly string[], terminal: Surroundings): Promise<number> {
  // Results and errors have texts of services, of clients and of catalogs.
  const surroundings: Surroundings = {
    ...terminal,
    out (text) { terminal.out(toPlainLines(text)) },
    err (text) { terminal.err(toPlainLines(text)) }
  }
  const isJson = args.includes('--json')
  let exitCode = 0
  const program = new Command('trivet')
    .description('Serves a folder of tools, resources and prompts over the Model Context Protocol.')
    .version(surroundings.version, '-V, --version')
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: surroundings.out, writeErr: isJson ? () => {} : surroundings.err })
  for (const add of COMMANDS) add(program, surroundings, (code) => { exitCode = code })
  try {
    await program.parseAsync(isOnlyFlags(args) ? ['serve', ...args] : [...args], { from: 'user' })
    return exitCode
  } catch (error) {
    const isOfParser = error instanceof CommanderError
    // Help and the version end the parsing too.
    if (isOfParser && error.exitCode === 0) return 0
    const failure = isOfParser ? new UsageError(error.message.replace(/^error: /, '')) : toFailure(error)
    if (failure === undefined) throw error
    const { code, message, exitCode, details } = failure
    if (isJson) surroundings.out(toJsonText({ error: { code, message, ...details, exitCode } }))
    // The parser has said it.
    else if (!isOfParser) surroundings.err(`${message}\n`)
    return exitCode
  }
}

/** `undefined` for an error that no command expects. */
function toFailure (error: unknown): CommandError | undefined {
  if (error instanceof CommandError) return error
  if (error instanceof ConfigError) return new CommandError('settings', error.message)
  if (!(error instanceof CatalogError)) return undefined
  return new CommandError('catalog', error.message, FAILED, { problems: error.problems })
}
