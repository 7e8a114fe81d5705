// Compiles the definitions of resources and of resource templates.

import type { CompletionSource } from '../../../platform/author/completion.ts'
import type { ReadContext } from '../../../platform/author/context.ts'
import type {
  ResourceDefinition, ResourceOutput, ResourceTemplateDefinition, TemplateVariables
} from '../../../platform/author/define-resource.ts'
import {
  UNCACHED, type CacheHints, type Resource, type ResourceTemplate
} from '../../../platform/protocol/primitives.ts'
import { preview } from '../../../platform/schema/value-preview.ts'
import {
  type AuditRule, type CompiledPrimitive, type EntryMembers, toCompiledPrimitive
} from '../compiled-primitive.ts'
import type { FileBytes, Located, LocatedResource } from '../contents.ts'
import { isCompletionSource } from '../lists/completions.ts'
import type { ReportProblem } from '../problem.ts'
import { createUriTemplate, type UriTemplate } from '../resources/uri-template.ts'
import { toUri } from '../resources/uri.ts'
import { toAuditRule } from './audit-rule.ts'
import { findHandlerProblem, hasShape } from './check-definition.ts'
import { resourceShape, templateShape } from './definition-shapes.ts'

interface CompiledReadable extends CompiledPrimitive {
  readonly mimeType: string | undefined
  readonly cache: CacheHints
  readonly timeoutMs: number | undefined
}

export interface CompiledResource extends CompiledReadable {
  /** The bytes of a resource that is a file. */
  readonly bytes: FileBytes | undefined
  read (ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

export interface CompiledTemplate extends CompiledReadable {
  readonly audit: AuditRule
  readonly template: UriTemplate
  /** The suggestions, by variable. A variable without suggestions has an empty list. */
  readonly completions: ReadonlyMap<string, CompletionSource>
  read (variables: TemplateVariables, ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

type ReadableDefinition = ResourceDefinition | ResourceTemplateDefinition

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compileResource (
  located: LocatedResource, readTtlMs: number, report: ReportProblem
): CompiledResource | undefined {
  const { definition } = located
  if (!hasShape(resourceShape, definition, report, findReadableProblems)) return undefined
  const uri = readResourceUri(definition.uri, report)
  if (uri === undefined) return undefined
  return {
    ...toCompiledPrimitive(uri, located, toResourceEntry(uri, definition)),
    ...toReadable(definition, readTtlMs),
    bytes: located.bytes,
    read: (ctx) => definition.read(ctx)
  }
}

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compileTemplate (
  located: Located<ResourceTemplateDefinition>, readTtlMs: number, report: ReportProblem
): CompiledTemplate | undefined {
  const { definition } = located
  if (!hasShape(templateShape, definition, report, findReadableProblems)) return undefined
  const { uriTemplate } = definition
  const template = readTemplate(uriTemplate, report)
  if (template === undefined) return undefined
  const entry: EntryMembers<ResourceTemplate> = { uriTemplate, ...pickCommonMembers(definition) }
  const completions = new Map<string, CompletionSource>(template.variables.map((variable) => [variable, []]))
  for (const [variable, source] of Object.entries(definition.complete ?? {})) {
    const place = `complete.${variable}`
    if (!completions.has(variable)) report(place, 'names no variable of the uriTemplate')
    else if (!isCompletionSource(source)) report(place, 'must be a list of strings or a function')
    else completions.set(variable, source)
  }
  return {
    ...toCompiledPrimitive(uriTemplate, located, entry),
    ...toReadable(definition, readTtlMs),
    audit: toAuditRule(definition, template.variables),
    template,
    completions,
    read: (variables, ctx) => definition.read(variables, ctx)
  }
}

function findReadableProblems ({ cache, scopes = [], read }: ReadableDefinition): string[] {
  const handlerProblem = findHandlerProblem(read)
  const problems = handlerProblem === undefined ? [] : [`read: ${handlerProblem}`]
  if (cache?.cacheScope === 'public' && scopes.length > 0) {
    problems.push('cache.cacheScope: cannot be public, because scopes decide who may read this')
  }
  return problems
}

function toReadable ({ mimeType, timeoutMs, cache = {} }: ReadableDefinition, readTtlMs: number) {
  // Private by default: the contents that a function returns may depend on the caller.
  const { ttlMs = readTtlMs, cacheScope = UNCACHED.cacheScope } = cache
  return { mimeType, timeoutMs, cache: { ttlMs, cacheScope } }
}

/** Returns the URI in the form in which it is listed and looked up. */
export function readResourceUri (text: string, report: ReportProblem): string | undefined {
  const uri = toUri(text)
  if (uri === undefined) report('uri', `must be a URI as RFC 3986 has it, got ${preview(text)}`)
  return uri
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

type CommonMembers = Pick<
  Resource, 'name' | 'title' | 'description' | 'icons' | 'mimeType' | 'annotations' | '_meta'
>

function pickCommonMembers (
  { name, title, description, icons, mimeType, annotations, _meta }: CommonMembers
): EntryMembers<CommonMembers> {
  return { name, title, description, icons, mimeType, annotations, _meta }
}

export function toResourceEntry (
  uri: string, definition: CommonMembers & { size?: number }
): EntryMembers<Resource> {
  return { uri, ...pickCommonMembers(definition), size: definition.size }
}
