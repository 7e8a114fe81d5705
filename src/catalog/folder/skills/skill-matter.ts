// The front matter of a SKILL.md: what Agent Skills asks of it, and what Trivet reads in it.
// https://agentskills.io/specification

import { isDeepStrictEqual } from 'node:util'
import type { WhenMissing } from '../../../platform/author/common-options.ts'
import { quote } from '../../../base/words.ts'
import { RESERVED_METADATA_PREFIX, type Skill } from '../../../platform/protocol/skills.ts'
import { Type, type Static } from '../../../platform/schema/type.ts'
import { SCOPE_LIST } from '../../compiled/definitions/definition-shapes.ts'
import type { ReportProblem } from '../../compiled/problem.ts'
import { createSettingsReader } from '../settings-reader.ts'
import { splitFrontMatter } from '../yaml.ts'

const optional = Type.Optional

const SCOPES_KEY = 'trivet/scopes'
const WHEN_MISSING_KEY = 'trivet/whenMissing'
const MISPLACED = ['scopes', 'whenMissing']

/** Texts in `metadata`, because Agent Skills has no other place for what is not its own. */
const settings = {
  [SCOPES_KEY]: optional(Type.String({ pattern: SCOPE_LIST })),
  [WHEN_MISSING_KEY]: optional(Type.Enum(['hide', 'challenge']))
}

const fields = {
  name: Type.String(),
  description: Type.String({ minLength: 1, maxLength: 1024, pattern: '\\S' }),
  license: optional(Type.String()),
  compatibility: optional(Type.String({ minLength: 1, maxLength: 500 })),
  metadata: optional(Type.Object(settings, {
    additionalProperties: Type.String(), dependentRequired: { [WHEN_MISSING_KEY]: [SCOPES_KEY] }
  })),
  'allowed-tools': optional(Type.Union([Type.String(), Type.Array(Type.String())]))
}

/** Not closed: authors and later revisions of Agent Skills may add fields. */
const shape = Type.Object(fields)

const readShape = createSettingsReader(shape)

const NAME = /^(?!.{65})[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Every list of skills has the front matter of all of them. */
const MAX_CHARACTERS = 65_536

/** The callers that may see a skill, and its files. */
export interface SkillAccess { readonly scopes: readonly string[], readonly whenMissing?: WhenMissing }

export interface SkillMatter {
  /** All of it, as JSON has it. */
  readonly frontmatter: Skill['frontmatter']
  /** The fields that Agent Skills does not have, and the reserved keys of `metadata`. */
  readonly foreignKeys: readonly string[]
  /** `undefined` if the front matter says nothing of access. */
  readonly access: SkillAccess | undefined
}

/**
 * `undefined` if the front matter breaks a rule. Every problem has then been reported. Throws a
 * YAMLParseError or a SyntaxError for a text whose front matter cannot be read.
 * @param folder the name of the skill's folder
 */
export function readSkillMatter (
  text: string, folder: string, report: ReportProblem
): SkillMatter | undefined {
  let problems = 0
  const tell: ReportProblem = (place, rule) => {
    problems++
    report(place, rule)
  }
  const { data, body } = splitFrontMatter(text)
  const length = text.length - body.length
  if (length === 0) {
    throw new SyntaxError('must begin with front matter: a line ---, name and description, a line ---')
  }
  if (length > MAX_CHARACTERS) {
    throw new SyntaxError(`the front matter may have ${MAX_CHARACTERS} characters, got ${length}`)
  }
  const frontmatter = readShape(data)
  // Hosts compare what the list says with what they read in the file.
  if (!isDeepStrictEqual(frontmatter, JSON.parse(JSON.stringify(frontmatter)))) {
    tell('', 'the front matter has a value that JSON does not have, such as .inf')
  }
  const { name } = frontmatter
  if (!NAME.test(name)) {
    tell('name', 'must have 1 to 64 of the characters a-z, 0-9 and -, ' +
      `with no - at an end or beside another -, got ${quote(name)}`)
  } else if (name !== folder) {
    tell('name', `must be the name of the folder, ${JSON.stringify(folder)}, got ${quote(name)}`)
  }
  findMisplaced(frontmatter, tell)
  if (problems > 0) return undefined
  const { metadata = {} } = frontmatter
  const { [SCOPES_KEY]: scopes, [WHEN_MISSING_KEY]: whenMissing } = metadata
  const access = scopes === undefined
    ? undefined
    : { scopes: scopes.split(' '), ...(whenMissing !== undefined && { whenMissing }) }
  // The specification wants keys of its prefix ignored where they are not known. This one knows none.
  const reserved = Object.keys(metadata).filter((key) => key.startsWith(RESERVED_METADATA_PREFIX))
  const foreignKeys = [
    ...Object.keys(frontmatter).filter((key) => !Object.hasOwn(fields, key)),
    ...reserved.map((key) => `metadata.${key}`)
  ]
  return { frontmatter, foreignKeys, access }
}

/** A misspelt setting must not open a skill to everyone. */
function findMisplaced (
  { metadata = {}, ...frontmatter }: Static<typeof shape>, report: ReportProblem
): void {
  for (const key of MISPLACED) {
    if (Object.hasOwn(frontmatter, key)) report(key, `does nothing here; write trivet/${key} in metadata`)
    if (Object.hasOwn(metadata, key)) report(`metadata.${key}`, `does nothing; write trivet/${key}`)
  }
  for (const key of Object.keys(metadata)) {
    if (/^trivet\b/i.test(key) && !Object.hasOwn(settings, key)) {
      report(`metadata.${key}`, `is not known here; the settings are ${Object.keys(settings).join(' and ')}`)
    }
  }
}
