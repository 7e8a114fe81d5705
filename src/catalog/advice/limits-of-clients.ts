// What clients and models allow, where the protocol allows more.

import type { Tool } from '../../protocol/primitives.ts'
import type { Advise, Listed } from './piece.ts'

/** The names that the APIs of the large model providers accept for tools. */
const COMMON_NAME = /^[a-zA-Z0-9_-]+$/
const MAX_NAME_LENGTH = 64
/** Clients put the name of the server in front, as in `mcp__bookshop__search_books`. */
const PREFIX_LENGTH = 16

/** How many characters of JSON a token has, about. */
const CHARACTERS_PER_TOKEN = 4
const MAX_TOKENS = 20_000

export function adviseOnName ({ name }: { readonly name: string }, advise: Advise): void {
  if (!COMMON_NAME.test(name)) {
    const problem = 'has characters other than a-z, A-Z, 0-9, _ and -, which some clients refuse or replace'
    advise('name', 'name', `${JSON.stringify(name)} ${problem}`)
  } else if (name.length > MAX_NAME_LENGTH - PREFIX_LENGTH) {
    const problem = `clients put the server's name in front, and allow ${MAX_NAME_LENGTH} together`
    advise('name', 'name', `has ${name.length} characters: ${problem}`)
  }
}

/** Advises on the longest tool. */
export function adviseOnLength (tools: ReadonlyArray<Listed<Tool>>): void {
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
