// The command `trivet list`: what a catalog offers.

import { toPlain } from '../../base/words.ts'
import type { CompiledPrimitive } from '../../catalog/compiled/compiled-primitive.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import { toAnswerError } from './client/connection-error.ts'
import {
  firstSentence, FOLDER_OR_URL, isUrl, toJsonText, type AddCommand, type Surroundings
} from './command.ts'
import { loadCatalog } from './named-catalog.ts'
import { addRemoteFlags, openRemote, REMOTE_HELP, type RemoteFlags } from './remote.ts'

interface ListFlags extends RemoteFlags { readonly json?: true }

export const listCommand: AddCommand = (program, surroundings) => {
  const command = program.command('list')
    .description('list the tools, prompts, resources and skills of a catalog or of a service')
    .argument(...FOLDER_OR_URL)
    .option('--json', 'print the lists as clients get them')
  addRemoteFlags(command).addHelpText('after', REMOTE_HELP)
    .action(async (place: string | undefined, flags: ListFlags) => {
      const write = flags.json === true ? toJsonText : toText
      const text = place !== undefined && isUrl(place)
        ? await readLists(place, flags, surroundings, write)
        : write(toLists((await loadCatalog(place, surroundings)).snapshot))
      surroundings.out(text)
    })
}

/** What the caller sees whom the access token names. */
async function readLists (
  url: string, flags: RemoteFlags, surroundings: Surroundings, write: (lists: Lists) => string
): Promise<string> {
  const { caller, close } = await openRemote(url, flags, surroundings)
  try {
    const { templates, skills, ...lists } = await caller.list()
    return write({ ...lists, resourceTemplates: templates, skills })
  } catch (error) {
    throw toAnswerError(url, error)
  } finally {
    await close()
  }
}

interface ListEntry {
  readonly name?: string
  readonly uri?: string
  readonly uriTemplate?: string
  readonly title?: string
  readonly description?: string
  /** Clients get no such member. */
  readonly upstreams?: readonly string[]
  /** The metadata of a skill. */
  readonly frontmatter?: { readonly description: string }
}

type Lists = { readonly [kind: string]: readonly ListEntry[] }

/** The lists for a caller with every scope, with the upstreams that the definitions name. */
function toLists ({ primitives: { tools, prompts, listed, templates, skills } }: Snapshot): Lists {
  const entries = (primitives: readonly CompiledPrimitive[]): readonly ListEntry[] =>
    primitives.map(({ json, upstreams }) => {
      return { ...JSON.parse(json), ...upstreams && { upstreams: upstreams.map(({ name }) => name) } }
    })
  return {
    tools: entries(tools),
    prompts: entries(prompts),
    resources: entries(listed),
    resourceTemplates: entries(templates),
    skills: entries(skills)
  }
}

const HEADINGS: { readonly [kind: string]: string } = {
  tools: 'Tools',
  prompts: 'Prompts',
  resources: 'Resources',
  resourceTemplates: 'Resource templates',
  skills: 'Skills'
}

function toText (lists: Lists): string {
  const parts = Object.entries(lists).filter(([, entries]) => entries.length > 0).map(([kind, entries]) => {
    const keys = entries.map(({ name, uri, uriTemplate }) => toPlain(uri ?? uriTemplate ?? name ?? ''))
    const width = Math.min(40, Math.max(...keys.map((key) => key.length)))
    const lines = entries.map(({ description, frontmatter, title = '' }, index) => {
      const about = firstSentence(description ?? frontmatter?.description ?? title)
      return `  ${keys[index]?.padEnd(width)}  ${about}`.trimEnd()
    })
    return `${HEADINGS[kind]}\n${lines.join('\n')}\n`
  })
  return parts.length === 0 ? 'The catalog is empty.\n' : parts.join('\n')
}
