// Compiles the settings of a catalog to their values. A value of a secret is in no problem.

import { isDeepStrictEqual } from 'node:util'
import type { SettingOptions, SettingsDefinition } from '../../../platform/author/define-settings.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Located } from '../contents.ts'
import type { ReportProblem } from '../problem.ts'
import { hasShape } from './check-definition.ts'
import { compileSchema, type SchemaCompilers } from './compile-schema.ts'
import { settingShape } from './definition-shapes.ts'

/** The text of a setting. `undefined` if none is set. */
export type SettingText = { readonly text: string | undefined } | { readonly problem: string }

/** Reads the text of the setting with this name. */
export type ReadSetting = (name: string) => Promise<SettingText>

/** One setting, for operators. */
export interface SettingFacts {
  readonly name: string
  readonly isSet: boolean
  readonly isSecret: boolean
  /** Whether the catalog does not load without it. */
  readonly isRequired: boolean
  readonly description: string | undefined
  /** The file of its first definition. */
  readonly file: string
  readonly place: string
}

export interface CompiledSettings {
  /** The values by name, by definition. */
  readonly values: ReadonlyMap<object, object>
  /** The texts that no problem and no line of the log may have, by definition. */
  readonly secrets: ReadonlyMap<object, readonly string[]>
  /** The definitions of which a required setting has no value. */
  readonly incomplete: ReadonlySet<object>
  /** Each name once. */
  readonly facts: readonly SettingFacts[]
}

export interface SettingsDependencies {
  readonly compilers: SchemaCompilers
  readonly readSetting: ReadSetting
  /** Whether a required setting without a value is a problem. */
  readonly needsAll: boolean
  reporterOf (located: Located<unknown>): ReportProblem
}

const NAME = /^(?!TRIVET_)[A-Za-z_][A-Za-z0-9_]*$/
const NAME_RULE = 'must have only letters, digits and _, and must not begin with a digit or with TRIVET_'

interface FirstUse {
  readonly options: SettingOptions
  readonly file: string
  readonly reading: Promise<SettingValue>
}

/** `value` is `undefined` if none is set, and if it has a problem. */
interface SettingValue { readonly value: unknown, readonly facts: SettingFacts }

/** Reads the values of all settings. Every problem has been reported. */
export async function compileSettings (
  all: ReadonlyArray<Located<SettingsDefinition>>, dependencies: SettingsDependencies
): Promise<CompiledSettings> {
  const uses = new Map<string, FirstUse>()
  const values = new Map<object, object>()
  const secrets = new Map<object, string[]>()
  const incomplete = new Set<object>()
  for (const located of all) {
    const report = dependencies.reporterOf(located)
    const { definition, definition: { variables }, file } = located
    const valueByName: { [name: string]: unknown } = {}
    const hidden: string[] = []
    if (!isObject(variables)) report('', 'must be an object with the options of each setting')
    for (const [name, options] of Object.entries(isObject(variables) ? variables : {})) {
      if (!isUsable(name, options, report)) continue
      const earlier = uses.get(name)
      if (earlier !== undefined && !areSame(earlier.options, options)) {
        report(name, `has other options in ${earlier.file}: import that definition, or use the same options`)
        continue
      }
      const reading = earlier?.reading ?? readSetting(name, options, located, dependencies)
      if (earlier === undefined) uses.set(name, { options, file, reading })
      const { value, facts: { isRequired } } = await reading
      if (value !== undefined) valueByName[name] = value
      else if (isRequired) incomplete.add(definition)
      if (options.secret === true && value !== undefined) hidden.push(String(value))
    }
    values.set(definition, Object.freeze(valueByName))
    secrets.set(definition, hidden)
  }
  const settings = await Promise.all([...uses.values()].map(async ({ reading }) => await reading))
  return { values, secrets, incomplete, facts: settings.map(({ facts }) => facts) }
}

function isUsable (name: string, options: SettingOptions, report: ReportProblem): boolean {
  const isNamed = NAME.test(name)
  if (!isNamed) report(name, NAME_RULE)
  return hasShape(settingShape, options, (_, rule) => report(name, rule), findProblems) && isNamed
}

function findProblems ({ type, enum: allowed }: SettingOptions): string[] {
  if (type === undefined && allowed === undefined) return ['needs a type or an enum']
  return allowed !== undefined && type !== undefined && type !== 'string'
    ? [`must have the type string, because it has an enum, got ${type}`]
    : []
}

/** Whether two definitions of a variable mean the same. */
function areSame (before: SettingOptions, after: SettingOptions): boolean {
  return isDeepStrictEqual({ ...before, description: '' }, { ...after, description: '' })
}

async function readSetting (
  name: string, options: SettingOptions, located: Located<unknown>,
  { compilers, readSetting: read, needsAll, reporterOf }: SettingsDependencies
): Promise<SettingValue> {
  const report = (rule: string) => reporterOf(located)(name, rule)
  const {
    type = 'string', default: fallback, optional = false, secret = false, description, ...keywords
  } = options
  const source = await read(name)
  const text = 'problem' in source ? undefined : source.text
  const facts = {
    name,
    isSet: text !== undefined,
    isSecret: secret,
    isRequired: fallback === undefined && !optional,
    description,
    file: located.file,
    place: located.place
  }
  const toSetting = (value: unknown): SettingValue => ({ value, facts })
  const schema = { type: 'object', properties: { [name]: { type, ...keywords } } }
  // The compiler of outputs does not quote values.
  const direction = secret ? 'output' : 'input'
  const compiled = compileSchema(schema, direction, compilers, report)
  if (compiled === undefined) return toSetting(undefined)
  const check = async (value: unknown, subject: string): Promise<unknown> => {
    const verdict = await compiled.check({ [name]: value })
    if (verdict.ok) return value
    for (const problem of verdict.problems) report(`${subject}${problem}`)
    return undefined
  }
  const defaultValue = fallback === undefined ? undefined : await check(fallback, 'the default of ')
  if ('problem' in source) {
    report(source.problem)
    return toSetting(undefined)
  }
  if (text !== undefined) return toSetting(await check(convert(text, type), ''))
  if (facts.isRequired && needsAll) {
    report(`is required, but missing: set the variable ${name}, or ${name}_FILE to the path of a file`)
  }
  return toSetting(defaultValue)
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const BOOLEANS: { readonly [text: string]: boolean } = { true: true, false: false }

/** Reads a text as its type. A text in another form stays a text, which the check refuses. */
function convert (text: string, type: NonNullable<SettingOptions['type']>): unknown {
  const trimmed = text.trim()
  switch (type) {
    case 'string': return text
    case 'boolean': return Object.hasOwn(BOOLEANS, trimmed) ? BOOLEANS[trimmed] : text
    case 'number':
    case 'integer': return DECIMAL.test(trimmed) ? Number(trimmed) : text
  }
}
