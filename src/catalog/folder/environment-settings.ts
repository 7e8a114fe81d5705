// Reads the settings of a catalog from environment variables, and from the files that variables name.

import { stat } from 'node:fs/promises'
import { readPlainFile } from '../../base/file-system.ts'
import type { ReadSetting } from '../compiled/definitions/compile-settings.ts'
import { ruleOf } from './error-problem.ts'

/** Variables by name. An empty one counts as missing. */
export interface Variables { readonly [variable: string]: string | undefined }

const MAX_BYTES = 1_048_576

/** The environment is read at each call: a module of the catalog may have set a variable. */
export function createSettingReader (environment: Variables): ReadSetting {
  const find = (variable: string) => environment[variable] === '' ? undefined : environment[variable]
  return async (name) => {
    const text = find(name)
    const file = find(`${name}_FILE`)
    if (file === undefined) return { text }
    if (text !== undefined) return { problem: `is set, and ${name}_FILE is too: remove one of the variables` }
    try {
      const { size } = await stat(file)
      if (size > MAX_BYTES) {
        return { problem: `is in a file of ${size} bytes, named by ${name}_FILE; the limit is ${MAX_BYTES}` }
      }
      const contents = String(await readPlainFile(file)).replace(/\r?\n$/, '')
      return { text: contents === '' ? undefined : contents }
    } catch (error) {
      return { problem: `cannot be read from the file that ${name}_FILE names: ${ruleOf(error)}` }
    }
  }
}
