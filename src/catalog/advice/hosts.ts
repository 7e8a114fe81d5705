// What each host of the table will make of a catalog: names, schemas, descriptions, links and instructions.

import { cut } from '../../base/text.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Tool } from '../../platform/protocol/primitives.ts'
import { APPLICATORS, mapSubschemas } from '../../platform/schema/subschemas.ts'
import type { CatalogContents } from '../compiled/contents.ts'
import type { Snapshot } from '../compiled/snapshot.ts'
import {
  DROPPED_KEYWORDS, HOST_HABITS, nameHosts, type HabitSubject, type HostHabit
} from '../hosts/host-table.ts'
import type { CatalogAdvice } from './piece.ts'

/** Clients put the name of the server in front, as in `mcp__bookshop__search_books`. */
export const PREFIX_LENGTH = 16
/** The keywords of a choice at the top of a schema. */
export const TOP_UNIONS: readonly string[] = ['oneOf', 'anyOf', 'allOf']
/** A handler that sends links without a text. What it calls in other functions is not seen. */
const LINKS_ALONE = /\blinks\s*:\s*['"`]blocks\b/

/** A tool as the list has it, with the source of its handler. */
interface OfferedTool extends Tool { readonly source: string }

/** Returns what the habit concerns in a tool, or `undefined` if that is nothing. */
type Find = (tool: OfferedTool, limit: number) => string | undefined

const FINDERS: { readonly [subject in HabitSubject]: Find } = {
  dots: ({ name }) => name.includes('.') ? toUndotted(name) : undefined,
  name: ({ name }, limit) => name.length > limit - PREFIX_LENGTH ? describeLength(name) : undefined,
  keywords ({ inputSchema }) {
    const keywords = keywordsOf(inputSchema)
    return DROPPED_KEYWORDS.filter((keyword) => keywords.has(keyword)).join(', ') || undefined
  },
  references: ({ inputSchema }) => keywordsOf(inputSchema).has('$ref') ? '$ref' : undefined,
  union: ({ inputSchema }) => TOP_UNIONS.filter((keyword) => keyword in inputSchema).join(', ') || undefined,
  description: ({ description = '' }, limit) => (
    description.length > limit ? describeLength(description) : undefined
  ),
  link: ({ source }) => LINKS_ALONE.test(source) ? "links: 'blocks'" : undefined,
  instructions: () => undefined
}

/** How a host writes the names of tools that it does not keep. Two tools may become one. */
const REWRITINGS: { readonly [subject in HabitSubject]?: (name: string, limit: number) => string } = {
  dots: toUndotted,
  name: (name, limit) => cut(name, limit - PREFIX_LENGTH)
}

/** Finds what the habits of hosts concern: in each tool, in the order of the list, and in instructions. */
export function findHostAdvice (
  { tools, server }: CatalogContents, { primitives }: Snapshot
): CatalogAdvice[] {
  const byName = new Map(tools.map((located) => [located.definition.name, located]))
  const offered = primitives.tools.map(({ json, key }): OfferedTool => {
    return { ...JSON.parse(json), source: String(byName.get(key)?.definition.run) }
  })
  const habits = HOST_HABITS.map((habit) => ({ habit, twinOf: findTwins(habit, offered) }))
  const ofTools = offered.flatMap((tool) => habits.flatMap(({ habit, twinOf }): CatalogAdvice[] => {
    const { subject, limit = 0 } = habit
    const part = subject && FINDERS[subject](tool, limit)
    if (part === undefined) return []
    const twin = twinOf(tool.name)
    const details = twin === undefined ? part : `${part}, the same as ${twin}`
    const { file = '', place = '' } = byName.get(tool.name) ?? {}
    return [{ name: 'hosts', file, place, rule: `${tool.name} in ${describe(habit)} (here ${details})` }]
  }))
  const { instructions: { length } = '' } = server
  const lost = HOST_HABITS.filter(({ subject, limit = 0 }) => subject === 'instructions' && length > limit)
  return [...ofTools, ...lost.map((habit): CatalogAdvice => {
    return { name: 'hosts', file: 'server.yaml', place: 'instructions', rule: `in ${describe(habit)}` }
  })]
}

/** Finds tools whose names are the same once a host has rewritten them. */
function findTwins (
  { subject, limit = 0 }: HostHabit, tools: readonly Tool[]
): (name: string) => string | undefined {
  const rewrite = subject && REWRITINGS[subject]
  if (rewrite === undefined) return () => undefined
  const toEntry = ({ name }: Tool) => [rewrite(name, limit), name] as const
  const [lasts, firsts] = [new Map(tools.map(toEntry)), new Map(tools.toReversed().map(toEntry))]
  return (name) => {
    return [firsts, lasts].map((names) => names.get(rewrite(name, limit))).find((twin) => twin !== name)
  }
}

function describe (habit: HostHabit): string {
  return `${nameHosts(habit)}: ${habit.habit}`
}

const describeLength = ({ length }: string) => `${length} characters`

function toUndotted (name: string): string {
  return name.replaceAll('.', '_')
}

/** Lists the keywords of a schema and of all its parts. */
function keywordsOf (schema: unknown, keywords = new Set<string>()): ReadonlySet<string> {
  if (!isObject(schema)) return keywords
  for (const [keyword, value] of Object.entries(schema)) {
    keywords.add(keyword)
    if (APPLICATORS.has(keyword)) mapSubschemas(keyword, value, (part) => keywordsOf(part, keywords))
  }
  return keywords
}
