// The entries of `resources/list` that resource templates list themselves.

import type {
  ListContext, ListedResource, ResourceTemplateDefinition
} from '../../../platform/author/define-resource.ts'
import { runWithin } from '../../../base/deadline.ts'
import type { OfferTurn } from '../../../base/turns.ts'
import { messageOf } from '../../../base/words.ts'
import { toCompiledPrimitive, type Compiled, type CompiledPrimitive } from '../compiled-primitive.ts'
import type { Located } from '../contents.ts'
import { hasShape } from '../definitions/check-definition.ts'
import { toResourceEntry, type CompiledTemplate } from '../definitions/compile-resource.ts'
import { listedResourceShape } from '../definitions/definition-shapes.ts'
import { findDependency, findSettings, type SharedValues } from '../definitions/shared-values.ts'
import { createReporter, type Problem, type ReportProblem } from '../problem.ts'
import { ListCaller } from '../upstreams/list-caller.ts'
import { findUpstream } from '../upstreams/upstream-dependency.ts'
import { readListedUri } from './listed-uri.ts'

export type LocatedTemplate = Compiled<CompiledTemplate, ResourceTemplateDefinition>

/** A template with a `list`, and the entries that the list had when it was last made. */
export interface Listing extends LocatedTemplate { readonly entries: readonly CompiledPrimitive[] }

export interface ListingOptions {
  /** How long the `list` of a resource template may take, in milliseconds. 30,000 by default. */
  readonly listDeadlineMs?: number
  /** Called between entries. A long list must not block the requests that the thread serves. */
  readonly yieldToRequests?: OfferTurn
}

const LIST_DEADLINE_MS = 30_000
/** The most entries of one template. All entries of the catalog are in memory. */
const MAX_ENTRIES = 100_000
/** The most problems of one list. The entries after them are not checked. */
const MAX_ENTRY_PROBLEMS = 100

/** The values that lists may use. */
export interface ListValues extends SharedValues {
  /** Whether dependencies are open, and required settings are set. */
  readonly isComplete: boolean
}

/**
 * Calls the `list` of each template. `undefined` for a template with a problem: every problem was added to
 * `problems`. All are called at the same time, so that several that never end take one deadline.
 */
export async function makeListings (
  templates: readonly LocatedTemplate[], problems: Problem[], values: ListValues,
  { listDeadlineMs = LIST_DEADLINE_MS, yieldToRequests = () => undefined }: ListingOptions
): Promise<Array<Listing | undefined>> {
  const results = await Promise.allSettled(
    templates.map(async ({ located: { definition } }) => await callList(definition, values, listDeadlineMs))
  )
  const listings: Array<Listing | undefined> = []
  for (const [index, template] of templates.entries()) {
    const result = results[index]
    const before = problems.length
    const report = createReporter(problems, template.located)
    const entries = result?.status === 'fulfilled'
      ? await compileEntries(result.value, template, report, yieldToRequests)
      : reportFailure(result?.reason, report)
    listings.push(problems.length > before ? undefined : { ...template, entries })
  }
  return listings
}

function reportFailure (error: unknown, report: ReportProblem): [] {
  report('list', `failed: ${messageOf(error)}`)
  return []
}

async function callList (
  definition: ResourceTemplateDefinition, values: ListValues, deadlineMs: number
): Promise<readonly ListedResource[]> {
  let isIncomplete = false
  const caller = new ListCaller()
  const toContext = (signal: AbortSignal): ListContext => ({
    signal,
    settings (settings) {
      isIncomplete ||= !values.isComplete || values.settings.incomplete.has(settings)
      return findSettings(values, settings)
    },
    use (dependency) {
      isIncomplete ||= !values.isComplete
      return findDependency(values, dependency)
    },
    async fetch (upstream, path, init) {
      isIncomplete ||= !values.isComplete
      return await findUpstream(values, upstream, definition.upstreams).fetch(caller, path, init)
    }
  })
  const entries = await runWithin(deadlineMs, (signal) => definition.list?.(toContext(signal))).catch(
    (error: unknown) => {
      // Without its values a list cannot be made.
      if (isIncomplete) return []
      throw error
    }
  ).finally(() => caller.end())
  if (!Array.isArray(entries)) throw new TypeError('it must return a list')
  if (entries.length > MAX_ENTRIES) {
    throw new RangeError(`it returned ${entries.length} resources, the limit is ${MAX_ENTRIES}`)
  }
  return entries
}

async function compileEntries (
  listed: readonly ListedResource[], { compiled, located }: LocatedTemplate, report: ReportProblem,
  yieldToRequests: OfferTurn
): Promise<readonly CompiledPrimitive[]> {
  const entries: CompiledPrimitive[] = []
  let problems = 0
  for (const [index, entry] of listed.entries()) {
    if (problems >= MAX_ENTRY_PROBLEMS) break
    const turn = yieldToRequests()
    if (turn !== undefined) await turn
    const tell: ReportProblem = (within, rule) => {
      problems++
      report(within === '' ? `list()[${index}]` : `list()[${index}].${within}`, rule)
    }
    try {
      const resource = compileEntry(entry, compiled, located, tell)
      if (resource !== undefined) entries.push(resource)
    } catch (error) {
      return reportFailure(error, report)
    }
  }
  return entries
}

function compileEntry (
  entry: ListedResource, { template }: CompiledTemplate,
  { definition }: Located<ResourceTemplateDefinition>, report: ReportProblem
): CompiledPrimitive | undefined {
  const findMore = () => findEntryProblems(entry, definition)
  if (!hasShape(listedResourceShape, entry, report, findMore)) return undefined
  const uri = readListedUri(entry, template, report)
  if (uri === undefined) return undefined
  const { order = 0, scopes = [], whenMissing = 'hide' } = definition
  const guard = entry.scopes === undefined
    ? { scopes, whenMissing }
    : { scopes: [...new Set([...scopes, ...entry.scopes])], whenMissing: entry.whenMissing ?? whenMissing }
  const defaults = definition.mimeType === undefined ? {} : { mimeType: definition.mimeType }
  const options = { order, ...guard }
  return toCompiledPrimitive(uri, { definition: options }, toResourceEntry(uri, { ...defaults, ...entry }))
}

function findEntryProblems (
  { scopes = [], whenMissing, ...entry }: ListedResource, definition: ResourceTemplateDefinition
): string[] {
  const problems: string[] = []
  if (('uri' in entry) === ('variables' in entry)) problems.push('must have either uri or variables')
  if (scopes.length > 0 && definition.cache?.cacheScope === 'public') {
    problems.push('scopes: cannot be set, because cache.cacheScope of the template is public')
  }
  const isHidden = (definition.scopes ?? []).length > 0 && definition.whenMissing !== 'challenge'
  if (whenMissing === 'challenge' && isHidden) {
    problems.push('whenMissing: cannot be challenge, because the template is hidden')
  }
  return problems
}

/** Pairs each entry with the place of its template. */
export function locateEntries (listings: readonly Listing[]): Array<Compiled<CompiledPrimitive>> {
  return listings.flatMap(({ entries, located }) => entries.map((compiled) => ({ compiled, located })))
}
