// Descriptions are all that a model knows of a tool when it chooses one.

import type { Tool } from '../../protocol/primitives.ts'
import type { Advise, Listed } from './piece.ts'

/** The share of words that two descriptions have in common, from which on they are alike. */
const ALIKE = 0.8
/** Shorter descriptions have too few words to compare. */
const MIN_WORDS = 4

interface Described { readonly description?: string | undefined }

/** @param args the arguments by name. A property may be a boolean, which describes nothing. */
export function adviseOnDescriptions (
  { description }: Described, args: ReadonlyArray<readonly [name: string, argument: unknown]>, advise: Advise
): void {
  if (isMissing(description)) advise('description', '', 'has no description: a model must guess its use')
  const silent = args.filter(([, argument]) => isMissing(descriptionOf(argument))).map(([name]) => name)
  if (silent.length === 0) return
  advise('description', '', `has arguments without a description: ${silent.join(', ')}`)
}

/** Advises on the second of two tools. */
export function adviseOnLikeness (tools: ReadonlyArray<Listed<Tool>>): void {
  const words = tools.map(({ entry }) => toWords(entry.description ?? ''))
  for (const [index, { advise }] of tools.entries()) {
    const toolWords = words[index] ?? new Set()
    if (toolWords.size < MIN_WORDS) continue
    const like = tools.slice(0, index).find(
      (_, other) => likeness(toolWords, words[other] ?? new Set()) >= ALIKE
    )
    if (like === undefined) continue
    advise('alike', 'description', `is almost that of ${like.entry.name}: say in both when to use which`)
  }
}

function descriptionOf (argument: unknown): unknown {
  return typeof argument === 'object' && argument !== null && 'description' in argument
    ? argument.description
    : undefined
}

function isMissing (description: unknown): boolean {
  return typeof description !== 'string' || description.trim() === ''
}

function toWords (text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
}

/** Words that both have, of the words that one of them has. */
function likeness (one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length
  return common / (one.size + other.size - common)
}
