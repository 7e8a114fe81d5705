// Advice about a catalog that loads: what clients refuse, and what models handle badly.

import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Prompt, Tool } from '../../platform/protocol/primitives.ts'
import type { CatalogContents, Located } from '../compiled/contents.ts'
import type { Snapshot } from '../compiled/snapshot.ts'
import { adviseOnCalls } from './calls.ts'
import { PREFIX_LENGTH } from './hosts.ts'
import { findAlike } from './likeness.ts'
import type { CatalogAdvice, Advise, Listed } from './piece.ts'
import { adviseOnResources } from './resources.ts'
import { adviseOnSchema, adviseOnTopUnion } from './schemas.ts'

/** The names that the APIs of the large model providers accept for tools. */
const COMMON_NAME = /^[a-zA-Z0-9_-]+$/
const MAX_NAME_LENGTH = 64

/** How many characters of JSON a token has, about. */
const CHARACTERS_PER_TOKEN = 4
const MAX_TOKENS = 20_000

export function findAdvice (
  contents: CatalogContents, { primitives, settings, server }: Snapshot
): CatalogAdvice[] {
  const { tools, prompts, passedOver, foreignKeys } = contents
  const unset = settings.facts.filter(({ isSet, isRequired }) => isRequired && !isSet)
  const pieces: CatalogAdvice[] = [
    ...unset.map(({ name, file, place }): CatalogAdvice => {
      return { name: 'missing-setting', file, place, rule: `${name} is not set here` }
    }),
    ...passedOver.map(({ file, reason }): CatalogAdvice => {
      return { name: 'passed-over', file, place: '', rule: reason }
    }),
    ...foreignKeys.map(({ file, keys }): CatalogAdvice => {
      const rule = `the front matter has keys that do nothing here: ${keys.join(', ')}`
      return { name: 'foreign-key', file, place: '', rule }
    })
  ]

  function listed<T extends { readonly name: string }> (
    definitions: ReadonlyArray<Located<{ readonly name: string }>>, compiled: ReadonlyArray<{ json: string }>
  ): Array<Listed<T>> {
    const byName = new Map(definitions.map((located) => [located.definition.name, located]))
    return compiled.map(({ json }) => {
      const entry: T = JSON.parse(json)
      return { entry, advise: toAdvise(byName.get(entry.name)) }
    })
  }

  function toAdvise ({ file = '', place = '' }: Partial<Located<unknown>> = {}): Advise {
    return (name, within, rule) => {
      pieces.push({ name, file, place: [place, within].filter((part) => part !== '').join('.'), rule })
    }
  }

  const listedTools = listed<Tool>(tools, primitives.tools)
  const decided = new Set(
    tools.flatMap(({ definition: { name, flattenUnion } }) => flattenUnion === undefined ? [] : [name])
  )
  for (const { entry, advise } of listedTools) {
    if (!decided.has(entry.name)) adviseOnTopUnion(entry.inputSchema, advise)
    adviseOnName(entry, advise)
    adviseOnDescriptions(entry, Object.entries(entry.inputSchema.properties ?? {}), advise)
    adviseOnSchema(entry.inputSchema, 'inputSchema', advise)
    const outputs = Object.keys(entry.outputSchema?.properties ?? {})
    if (outputs.includes('content') && outputs.includes('isError')) {
      const problem = 'has content and isError: an output with both may be taken for a whole result'
      advise('result-form', 'outputSchema', `${problem}, so give one of them another name`)
    }
  }
  for (const located of tools) adviseOnCalls(located, server.continuesCalls, toAdvise(located))
  for (const { entry, advise } of listed<Prompt>(prompts, primitives.prompts)) {
    adviseOnName(entry, advise)
    adviseOnDescriptions(entry, (entry.arguments ?? []).map((argument) => [argument.name, argument]), advise)
  }
  adviseOnResources(contents, toAdvise)
  adviseOnLikeness(listedTools)
  adviseOnLength(listedTools)
  return pieces.toSorted((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : 0)
}

function adviseOnName ({ name }: { readonly name: string }, advise: Advise): void {
  if (!COMMON_NAME.test(name)) {
    const problem = 'has characters other than a-z, A-Z, 0-9, _ and -, which some clients refuse or replace'
    advise('name', 'name', `${JSON.stringify(name)} ${problem}`)
  } else if (name.length > MAX_NAME_LENGTH - PREFIX_LENGTH) {
    const problem = `clients put the server's name in front, and allow ${MAX_NAME_LENGTH} together`
    advise('name', 'name', `has ${name.length} characters: ${problem}`)
  }
}

/** Advises on the longest tool. */
function adviseOnLength (tools: ReadonlyArray<Listed<Tool>>): void {
  const sizes = tools.map(({ entry }) => JSON.stringify(entry).length)
  const tokens = Math.round(sizes.reduce((sum, size) => sum + size, 0) / CHARACTERS_PER_TOKEN)
  if (tokens <= MAX_TOKENS) return
  const longest = tools[sizes.indexOf(Math.max(...sizes))]
  const problem = `that take about ${tokens} tokens of a model's context together, more than ${MAX_TOKENS}`
  longest?.advise(
    'long-list', '',
    `is the longest of ${tools.length} tools ${problem}: shorten descriptions, or hide tools by scopes`
  )
}

/**
 * Advises on a primitive. A description is all that a model knows of a tool when it chooses one.
 * @param args the arguments by name. A property may be a boolean, which describes nothing.
 */
function adviseOnDescriptions (
  { description }: Partial<Prompt>, args: ReadonlyArray<readonly [name: string, argument: unknown]>,
  advise: Advise
): void {
  if (isMissing(description)) advise('description', '', 'has no description: a model must guess its use')
  const silent = args.filter(
    ([, argument]) => isMissing(isObject(argument) ? argument.description : undefined)
  ).map(([name]) => name)
  if (silent.length === 0) return
  advise('description', '', `has arguments without a description: ${silent.join(', ')}`)
}

/** Advises on the second of two tools. */
function adviseOnLikeness (tools: ReadonlyArray<Listed<Tool>>): void {
  const alike = findAlike(tools.map(({ entry }) => entry.description ?? ''))
  for (const [index, { advise }] of tools.entries()) {
    const like = tools[alike[index] ?? -1]
    if (like === undefined) continue
    advise('alike', 'description', `is almost that of ${like.entry.name}: say in both when to use which`)
  }
}

function isMissing (description: unknown): boolean {
  return typeof description !== 'string' || description.trim() === ''
}
