// What may stand in place of the last word of a command line.

import type { Command, Option } from 'commander'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Tool } from '../../platform/protocol/primitives.ts'
import { firstSentence, isUrl, type Surroundings } from './command.ts'
import { loadCatalog } from './named-catalog.ts'

interface Candidate {
  readonly text: string
  /** One line for the person who chooses. */
  readonly about: string
}

/** @param words after the name of the program. The last one, which may be empty, is to be completed. */
export async function completeWords (
  words: readonly string[], program: Command, surroundings: Surroundings
): Promise<Candidate[]> {
  const [name = '', ...typed] = words
  const last = words.at(-1) ?? ''
  const candidates = words.length <= 1
    ? commandsOf(program)
    : await completeCommand(program.commands.find((item) => item.name() === name), typed, surroundings)
  return candidates.filter(({ text }) => text.startsWith(last))
}

function commandsOf (program: Command): Candidate[] {
  const visible = program.createHelp().visibleCommands(program)
  return visible.map((command) => ({ text: command.name(), about: command.description() }))
}

async function completeCommand (
  command: Command | undefined, words: readonly string[], surroundings: Surroundings
): Promise<Candidate[]> {
  if (command === undefined) return []
  const last = words.at(-1) ?? ''
  const { open, operands, values } = readWords(command.options, words.slice(0, -1))
  if (open !== undefined) return (open.argChoices ?? []).map((text) => ({ text, about: '' }))
  if (last.startsWith('-')) {
    return command.options.map(
      ({ long, description }) => ({ text: long ?? '', about: firstSentence(description ?? '') })
    )
  }
  if (command.name() === 'call') {
    return await completeCall(operands, last, values.get('--catalog'), surroundings)
  }
  const choices = command.registeredArguments[operands.length]?.argChoices ?? []
  return choices.map((text) => ({ text, about: '' }))
}

interface ReadWords {
  /** The flag whose value comes next. */
  readonly open: Option | undefined
  readonly operands: readonly string[]
  /** The values of flags, by flag. */
  readonly values: ReadonlyMap<string, string>
}

function readWords (options: readonly Option[], words: readonly string[]): ReadWords {
  const operands: string[] = []
  const values = new Map<string, string>()
  let open: Option | undefined
  for (const word of words) {
    if (open !== undefined) {
      values.set(open.long ?? '', word)
      open = undefined
    } else if (word.startsWith('-')) {
      open = options.find(({ long, short, required }) => required && [long, short].includes(word))
    } else operands.push(word)
  }
  return { open, operands, values }
}

/** A service at a URL is not asked for each press of a key. */
async function completeCall (
  [name, ...pairs]: readonly string[], last: string, folder: string | undefined, surroundings: Surroundings
): Promise<Candidate[]> {
  if (isUrl(name ?? last)) return []
  const tools = await readTools(folder, surroundings)
  if (name === undefined) {
    return tools.map(({ name, description }) => ({ text: name, about: firstSentence(description ?? '') }))
  }
  const properties = tools.find((tool) => tool.name === name)?.inputSchema.properties
  const keys = new Set(pairs.map((pair) => pair.split('=')[0]))
  return Object.entries(isObject(properties) ? properties : {}).filter(([key]) => !keys.has(key)).flatMap(
    ([key, schema]) => isObject(schema) ? completeArgument(key, schema, last) : []
  )
}

function completeArgument (
  key: string, schema: { readonly [keyword: string]: unknown }, last: string
): Candidate[] {
  const { description } = schema
  const about = typeof description === 'string' ? firstSentence(description) : ''
  if (!last.startsWith(`${key}=`)) return [{ text: `${key}=`, about }]
  const values = schema.type === 'boolean' ? [true, false] : Array.isArray(schema.enum) ? schema.enum : []
  return values.map((value) => ({ text: `${key}=${String(value)}`, about: '' }))
}

/** A catalog that does not load has no tools to complete. */
async function readTools (folder: string | undefined, surroundings: Surroundings): Promise<Tool[]> {
  const catalog = await loadCatalog(folder, surroundings).catch(() => undefined)
  return catalog?.snapshot.primitives.tools.map(({ json }) => JSON.parse(json)) ?? []
}
