// The flags of the settings: each setting that is no secret has one, named like its variable.

import { Option } from 'commander'
import { SETTINGS } from '../settings.ts'
import type { Spell, Surroundings } from './command.ts'

/** A secret in the arguments of a process can be read by every user of the machine. */
const FLAGGED = Object.values(SETTINGS).filter(({ isSecret }) => isSecret !== true)

/** `--max-body-bytes` for TRIVET_MAX_BODY_BYTES. */
function flagOf (variable: string): string {
  return `--${variable.replace(/^TRIVET_/, '').toLowerCase().replaceAll('_', '-')}`
}

export const SETTING_FLAGS: readonly Option[] = FLAGGED.map(({ variable, fallback, kind }) => {
  const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? '')
  const form = (kind.textForm ?? kind.form).replaceAll(/\s+/g, ' ')
  return new Option(`${flagOf(variable)} <value>`, `${form}${shown === '' ? '' : ` (default: ${shown})`}`)
})

type Environment = Surroundings['environment']

/** The values of the given flags, as the parser names them. */
interface Flags { readonly [name: string]: string | undefined }

/** The environment with the variables that flags set: flags come first. */
export function withFlags (environment: Environment, flags: Flags): Environment {
  const given = FLAGGED.map(({ variable }) => [variable, valueOf(flags, variable)] as const)
  return { ...environment, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
}

/** How a setting was written: as a flag if one was given, else as a variable. */
export function spellWith (flags: Flags): Spell {
  return (variable) => valueOf(flags, variable) === undefined ? variable : flagOf(variable)
}

function valueOf (flags: Flags, variable: string): string | undefined {
  return flags[new Option(flagOf(variable)).attributeName()]
}
