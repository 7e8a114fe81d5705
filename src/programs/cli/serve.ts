// The commands that serve a catalog until a signal ends the process: `serve`, and `dev` for its author. Each
// setting that is no secret has a flag, named like its variable.

import { Option, type Command } from 'commander'
import { GROUPS } from '../../ops/config/settings.ts'
import {
  FOLDER, splitScopes, UsageError, type AddCommand, type AuthorOptions, type Spell, type Surroundings
} from './command.ts'

/** A secret in the arguments of a process can be read by every user of the machine. */
const FLAGS = Object.entries(GROUPS).flatMap(([group, settings]) => Object.values(settings).filter(
  ({ isSecret }) => isSecret !== true
).map(({ variable, fallback, kind }) => {
  const flag = `--${variable.replace(/^TRIVET_/, '').toLowerCase().replaceAll('_', '-')}`
  const text = String(fallback ?? '')
  const about = `${kind.textForm ?? kind.form}${text === '' ? '' : ` (default: ${text})`}`
  return { variable, flag, option: new Option(`${flag} <value>`, about).helpGroup(`${group}:`) }
}))

interface ServingCommand {
  readonly name: string
  readonly description: string
  /** Variables that count where neither the environment nor a flag has them. */
  readonly defaults: Surroundings['environment']
  /** Variables whose values the command has itself. It has no flags for them. */
  readonly fixed: Surroundings['environment']
  readonly isForAuthors: boolean
}

const HELP = `
Each flag is also a variable: --max-body-bytes is TRIVET_MAX_BODY_BYTES. A flag comes first.
Secrets are variables only: TRIVET_SECRETS and others.`

export const serveCommand = servingCommand({
  name: 'serve',
  description: 'serve a catalog until a signal ends the process',
  defaults: {},
  fixed: {},
  isForAuthors: false
})

/** State in memory: nothing is left behind in the folder of the author. */
export const devCommand = servingCommand({
  name: 'dev',
  description: 'serve a catalog to its author: with a console, a log for people, and state in memory',
  defaults: { TRIVET_STATE_URL: 'memory:' },
  fixed: { TRIVET_WORKERS: '1' },
  isForAuthors: true
})

function servingCommand ({ name, description, defaults, fixed, isForAuthors }: ServingCommand): AddCommand {
  return (program, { environment, serve }) => {
    const command = program.command(name).description(description).argument(...FOLDER)
      .addHelpText('after', HELP)
    if (isForAuthors) addAuthorFlags(command)
    for (const { variable, option } of FLAGS) if (fixed[variable] === undefined) command.addOption(option)
    command.action(async (folder: string | undefined, options: ServingFlags) => {
      const { console, subject, scopes, ...flags } = options
      const values = { ...flags, ...(folder !== undefined && { catalog: folder }) }
      const variables = withFlags({ ...defaults, ...environment, ...fixed }, values)
      const ofDesk = {
        ...isForAuthors && (await import('../../edges/desk/open-desk.ts')).toDeskVariables(variables)
      }
      const author = isForAuthors ? toAuthorOptions({ console, subject, scopes }) : undefined
      await serve({ ...variables, ...ofDesk }, { spell: spellWith(flags), author })
    })
  }
}

/** The values of the flags of settings, as the parser names them. */
interface FlagValues { readonly [name: string]: string | undefined }

interface AuthorFlags {
  readonly console?: boolean | undefined
  readonly subject?: string | undefined
  readonly scopes?: string | undefined
}

type ServingFlags = AuthorFlags & FlagValues

function addAuthorFlags (command: Command): void {
  const group = 'Who calls:'
  command.option('--no-console', 'serve no page for the author')
    .addOption(new Option('--subject <name>', 'the caller of requests without a token').helpGroup(group))
    .addOption(new Option('--scopes <scopes>', 'the scopes of that caller, by spaces or commas')
      .helpGroup(group))
}

function toAuthorOptions ({ console, subject, scopes }: AuthorFlags): AuthorOptions {
  if (subject === '') throw new UsageError('--subject needs a name')
  const isNamed = subject !== undefined || scopes !== undefined
  return {
    caller: isNamed ? { subject, scopes: splitScopes(scopes ?? '') } : undefined,
    hasConsole: console !== false
  }
}

/** Returns the environment with the variables that flags set: flags come first. */
function withFlags (
  environment: Surroundings['environment'], values: FlagValues
): Surroundings['environment'] {
  const variables = FLAGS.map(({ variable, option }) => [variable, values[option.attributeName()]] as const)
  return { ...environment, ...Object.fromEntries(variables.filter(([, value]) => value !== undefined)) }
}

/** Spells a setting as it was written: as a flag if one was given, else as a variable. */
function spellWith (values: FlagValues): Spell {
  return (variable) => FLAGS.find(
    ({ variable: name, option }) => name === variable && values[option.attributeName()] !== undefined
  )?.flag ?? variable
}
