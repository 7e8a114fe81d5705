// Definitions of resources and templates, checked and made ready to be read.

import type { CompletionSource } from '../authoring/completion.ts'
import type { ReadContext } from '../authoring/context.ts'
import type {
  ListedResource, ResourceDefinition, ResourceOutput, ResourceTemplateDefinition, TemplateVariables
} from '../authoring/define-resource.ts'
import { UNCACHED, type CacheHints, type Resource, type ResourceTemplate } from '../protocol/primitives.ts'
import type { ReportProblem } from './problem.ts'
import { isCompletionSource } from './completions.ts'
import { listedResourceShape, resourceShape, templateShape } from './definition-shapes.ts'
import { toCompiledPrimitive, type CompiledPrimitive } from './compiled-primitive.ts'
import { createUriTemplate, type UriTemplate } from './uri-template.ts'

export interface CompiledResource extends CompiledPrimitive {
  readonly mimeType: string | undefined
  readonly cache: CacheHints
  read (ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

export interface CompiledTemplate extends CompiledPrimitive {
  readonly mimeType: string | undefined
  readonly cache: CacheHints
  readonly template: UriTemplate
  /** By variable; a variable without suggestions has an empty list. */
  readonly completions: ReadonlyMap<string, CompletionSource>
  read (variables: TemplateVariables, ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

type ReadableDefinition = Pick<ResourceDefinition, 'cache' | 'scopes'>

/** `undefined` where the definition is unusable; every problem has then been reported. */
export function compileResource (
  definition: ResourceDefinition, readTtlMs: number, report: ReportProblem
): CompiledResource | undefined {
  const verdict = resourceShape(definition)
  const problems = verdict.ok ? findReadableProblems(definition, definition.read) : verdict.problems
  for (const problem of problems) report('', problem)
  if (problems.length > 0) return undefined
  return {
    ...toCompiledPrimitive(definition.uri, definition, toResourceEntry(definition.uri, definition)),
    mimeType: definition.mimeType,
    cache: toCacheHints(definition, readTtlMs),
    read: (ctx) => definition.read(ctx)
  }
}

/** `undefined` where the definition is unusable; every problem has then been reported. */
export function compileTemplate (
  definition: ResourceTemplateDefinition, readTtlMs: number, report: ReportProblem
): CompiledTemplate | undefined {
  const verdict = templateShape(definition)
  const problems = verdict.ok ? findReadableProblems(definition, definition.read) : verdict.problems
  for (const problem of problems) report('', problem)
  if (problems.length > 0) return undefined
  const template = readTemplate(definition.uriTemplate, report)
  if (template === undefined) return undefined
  const completions = new Map<string, CompletionSource>(template.variables.map((variable) => [variable, []]))
  for (const [variable, source] of Object.entries(definition.complete ?? {})) {
    if (!completions.has(variable)) report(`complete.${variable}`, 'names no variable of the uriTemplate')
    else if (!isCompletionSource(source)) {
      report(`complete.${variable}`, 'must be a list of strings or a function')
    } else completions.set(variable, source)
  }
  return {
    ...toCompiledPrimitive(definition.uriTemplate, definition, toTemplateEntry(definition)),
    mimeType: definition.mimeType,
    cache: toCacheHints(definition, readTtlMs),
    template,
    completions,
    read: (variables, ctx) => definition.read(variables, ctx)
  }
}

/** The concrete resources that a template names, for the list. */
export async function listTemplate (
  definition: ResourceTemplateDefinition, template: UriTemplate, report: ReportProblem
): Promise<CompiledPrimitive[]> {
  if (definition.list === undefined) return []
  const listed: readonly ListedResource[] = await definition.list()
  return listed.flatMap((entry, index) => {
    const verdict = listedResourceShape(entry)
    const problems = verdict.ok ? [] : [...verdict.problems]
    if (problems.length === 0 && ('uri' in entry) === ('variables' in entry)) {
      problems.push('must have either uri or variables')
    }
    for (const problem of problems) report(`list()[${index}]`, problem)
    if (problems.length > 0) return []
    const uri = 'uri' in entry ? entry.uri : template.expand(entry.variables)
    const defaults = definition.mimeType === undefined ? {} : { mimeType: definition.mimeType }
    return [toCompiledPrimitive(uri, definition, toResourceEntry(uri, { ...defaults, ...entry }))]
  })
}

function findReadableProblems ({ cache, scopes = [] }: ReadableDefinition, read: unknown): string[] {
  return [
    ...(typeof read === 'function' ? [] : ['read: must be a function']),
    ...(
      cache?.cacheScope === 'public' && scopes.length > 0
        ? ['cache.cacheScope: cannot be public, because scopes decide who may read this']
        : []
    )
  ]
}

/** Private unless the author says otherwise: what a function returns may depend on who asks. */
function toCacheHints ({ cache }: ReadableDefinition, readTtlMs: number): CacheHints {
  return { ttlMs: cache?.ttlMs ?? readTtlMs, cacheScope: cache?.cacheScope ?? UNCACHED.cacheScope }
}

function readTemplate (text: string, report: ReportProblem): UriTemplate | undefined {
  try {
    return createUriTemplate(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    report('uriTemplate', error.message)
    return undefined
  }
}

type Shown = Pick<Resource, 'name' | 'title' | 'description' | 'icons' | 'mimeType' | 'annotations' | '_meta'>

function toShown ({ name, title, description, icons, mimeType, annotations, _meta }: Shown): Shown {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta })
  }
}

function toResourceEntry (uri: string, definition: Shown & { size?: number }): Resource {
  return { uri, ...toShown(definition), ...(definition.size === undefined ? {} : { size: definition.size }) }
}

function toTemplateEntry (definition: ResourceTemplateDefinition): ResourceTemplate {
  return { uriTemplate: definition.uriTemplate, ...toShown(definition) }
}
