// The flags of the settings: each setting that is no secret has one, named like its variable.

import { Option } from 'commander'
import { ROWS } from '../ops/config/settings.ts'
import type { Spell, Surroundings } from './command.ts'

/** A secret in the arguments of a process can be read by every user of the machine. */
const FLAGS = ROWS.filter(([, { isSecret }]) => isSecret !== true).map(([, { variable, fallback, kind }]) => {
  const flag = `--${variable.replace(/^TRIVET_/, '').toLowerCase().replaceAll('_', '-')}`
  const shown = String(fallback ?? '')
  const about = `${kind.textForm ?? kind.form}${shown === '' ? '' : ` (default: ${shown})`}`
  return { variable, flag, option: new Option(`${flag} <value>`, about) }
})

export const SETTING_FLAGS: readonly Option[] = FLAGS.map(({ option }) => option)

/** The values of flags, as the parser names them. */
interface FlagValues { readonly [name: string]: string | undefined }

/** Returns the environment with the variables that flags set: flags come first. */
export function withFlags (
  environment: Surroundings['environment'], values: FlagValues
): Surroundings['environment'] {
  const variables = FLAGS.map(({ variable, option }) => [variable, values[option.attributeName()]] as const)
  return { ...environment, ...Object.fromEntries(variables.filter(([, value]) => value !== undefined)) }
}

/** Spells a setting as it was written: as a flag if one was given, else as a variable. */
export function spellWith (values: FlagValues): Spell {
  return (variable) => FLAGS.find(
    ({ variable: name, option }) => name === variable && values[option.attributeName()] !== undefined
  )?.flag ?? variable
}
