// The lists of the service, as its present caller sees them.

import { computed, effect, signal, untracked } from '@preact/signals'
import type { Prompt, Resource, ResourceTemplate, Tool } from '../../../../platform/protocol/primitives.ts'
import { abilities, bearerToken, caller, identity, type PageCaller } from '../connection/caller.ts'
import { consoleState } from '../connection/console-state.ts'
import { describeFailure } from '../connection/json.ts'
import { request } from '../connection/request.ts'
import { toEntries, type ServedEntry } from './entries.ts'

/** `undefined` until the lists were read the first time. */
export const entries = signal<readonly ServedEntry[] | undefined>(undefined)

/** Why the lists could not be read. */
export const listProblem = signal<string | undefined>(undefined)

export const entryByKey = computed(() => new Map(entries.value?.map((entry) => [entry.key, entry])))

/** The key of the entry that the fragment of the URL names. */
export const selectedKey = signal(readFragment())

export const selectedEntry = computed(() => entryByKey.value.get(selectedKey.value))

function readFragment (): string {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

addEventListener('hashchange', () => { selectedKey.value = readFragment() })

export function toFragment (key: string): string { return `#${encodeURIComponent(key)}` }

export function select (key: string): void {
  selectedKey.value = key
  location.hash = toFragment(key)
}

const MAX_PAGES = 1000

/** Reads all pages of a list. */
async function readList<T> (method: string, member: string, asCaller: PageCaller): Promise<readonly T[]> {
  const items: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await request<ListPage<T>>(method, params, { caller: asCaller })
    items.push(...result[member] ?? [])
    cursor = result.nextCursor
    if (cursor === undefined) break
  }
  return items
}

type ListPage<T> = { readonly [member: string]: readonly T[] } & { readonly nextCursor?: string }

let reading: Promise<void> | undefined
let isStale = false

/** Reads the lists. A call while they are read reads them once more afterwards. */
export async function refreshLists (): Promise<void> {
  isStale = true
  reading ??= readUntilFresh().finally(() => { reading = undefined })
  await reading
}

async function readUntilFresh (): Promise<void> {
  while (isStale) {
    isStale = false
    try {
      const asCaller = caller.value
      const [tools, prompts, resources, templates] = await Promise.all([
        readList<Tool>('tools/list', 'tools', asCaller),
        readList<Prompt>('prompts/list', 'prompts', asCaller),
        readList<Resource>('resources/list', 'resources', asCaller),
        readList<ResourceTemplate>('resources/templates/list', 'resourceTemplates', asCaller)
      ])
      if (isStale) continue
      entries.value = toEntries({ tools, prompts, resources, templates })
      listProblem.value = undefined
    } catch (error) {
      entries.value ??= []
      listProblem.value = describeFailure(error)
    }
  }
}

const loadedAt = computed(() => consoleState.value?.catalog.loadedAt)

/** Reads the lists now, after each load of the catalog, and for each caller. */
export function keepListsFresh (): void {
  effect(() => {
    // Read here, so that the effect runs again when one of them changes.
    const reasons = [loadedAt.value, identity.value, abilities.value, bearerToken.value]
    if (reasons[0] !== undefined) untracked(() => { refreshLists() })
  })
}
