// The flags of the settings: each setting that is no secret has one, named like its variable.

import { Option } from 'commander'
import { SETTINGS } from '../ops/config/settings.ts'
import type { Spell, Surroundings } from './command.ts'

/** A secret in the arguments of a process can be read by every user of the machine. */
const FLAGS = Object.values(SETTINGS).filter(({ isSecret }) => isSecret !== true).map(
  ({ variable, fallback, kind }) => {
    const flag = `--${variable.replace(/^TRIVET_/, '').toLowerCase().replaceAll('_', '-')}`
    const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback ?? '')
    const form = (kind.textForm ?? kind.form).replaceAll(/\s+/g, ' ')
    const about = `${form}${shown === '' ? '' : ` (default: ${shown})`}`
    return { variable, flag, option: new Option(`${flag} <value>`, about) }
  }
)

export const SETTING_FLAGS: readonly Option[] = FLAGS.map(({ option }) => option)

type Environment = Surroundings['environment']

/** The values of the given flags, as the parser names them. */
interface GivenFlags { readonly [name: string]: string | undefined }

/** The environment with the variables that flags set: flags come first. */
export function withFlags (environment: Environment, given: GivenFlags): Environment {
  const values = FLAGS.map(({ variable, option }) => [variable, given[option.attributeName()]] as const)
  return { ...environment, ...Object.fromEntries(values.filter(([, value]) => value !== undefined)) }
}

/** How a setting was written: as a flag if one was given, else as a variable. */
export function spellWith (given: GivenFlags): Spell {
  const flags = new Map(FLAGS.filter(({ option }) => given[option.attributeName()] !== undefined).map(
    ({ variable, flag }) => [variable, flag]
  ))
  return (variable) => flags.get(variable) ?? variable
}
