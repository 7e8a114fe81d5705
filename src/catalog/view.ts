// A view: the primitives of a snapshot that one set of granted scopes may see.

import type { TemplateVariables } from '../authoring/define-resource.ts'
import type { CacheScope } from '../protocol/primitives.ts'
import type { CompiledPrompt } from './compile-prompt.ts'
import type { CompiledResource, CompiledTemplate } from './compile-resource.ts'
import type { CompiledTool } from './compile-tool.ts'
import { compareListOrder, type CompiledPrimitive } from './compiled-primitive.ts'
import { createNearestNames } from './nearest-names.ts'
import { createPages, type Pages } from './pages.ts'
import type { ResultWriter } from './result-json.ts'
import { toUri } from './uri.ts'

/** All primitives of a snapshot, each list in its order. */
export interface Primitives {
  readonly tools: readonly CompiledTool[]
  readonly prompts: readonly CompiledPrompt[]
  readonly resources: readonly CompiledResource[]
  readonly templates: readonly CompiledTemplate[]
  /** The entries of `resources/list`: the resources, and the entries that templates list. */
  readonly listed: readonly CompiledPrimitive[]
}

export interface ViewOptions {
  readonly writer: ResultWriter
  readonly pageSize: number
  readonly listTtlMs: number
}

/** `uri` is the resource's own: percent-encoded where the client left that out. */
export type ResourceMatch =
  | { readonly kind: 'resource', readonly uri: string, readonly resource: CompiledResource }
  | {
    readonly kind: 'template'
    readonly uri: string
    readonly resource: CompiledTemplate
    readonly variables: TemplateVariables
  }

export interface View {
  readonly tools: Pages
  readonly prompts: Pages
  readonly resources: Pages
  readonly templates: Pages
  tool (name: string): CompiledTool | undefined
  /** At most three names of tools that a misspelt name may mean. */
  nearestTools (name: string): string[]
  prompt (name: string): CompiledPrompt | undefined
  /**
   * The resource of this URI; if none has it, the most specific template that matches. `undefined` when there
   * is neither, or when the caller may not see it.
   */
  resource (uri: string): ResourceMatch | undefined
  template (uriTemplate: string): CompiledTemplate | undefined
}

/** @param isGranted whether the caller holds a scope. */
export function createView (
  all: Primitives, isGranted: (scope: string) => boolean, { writer, pageSize, listTtlMs }: ViewOptions
): View {
  const maySee = ({ scopes }: CompiledPrimitive) => scopes.every(isGranted)
  const tools = byKey(all.tools.filter(maySee))
  const prompts = byKey(all.prompts.filter(maySee))
  const resources = byKey(all.resources)
  const templates = byKey(all.templates.filter(maySee))
  const specificFirst = all.templates.toSorted(
    (a, b) => b.template.literalLength - a.template.literalLength || compareListOrder(a, b)
  )

  function pagesOf (member: string, offered: readonly CompiledPrimitive[]): Pages {
    const cache = { ttlMs: listTtlMs, cacheScope: cacheScopeOf(offered) }
    return createPages(offered.filter(maySee), { member, pageSize, writer, cache })
  }

  function find (text: string): ResourceMatch | undefined {
    const uri = resources.has(text) ? text : toUri(text)
    if (uri === undefined) return undefined
    const resource = resources.get(uri)
    if (resource !== undefined) return { kind: 'resource', uri, resource }
    for (const candidate of specificFirst) {
      const variables = candidate.template.match(uri)
      if (variables !== undefined) return { kind: 'template', uri, resource: candidate, variables }
    }
    return undefined
  }

  return {
    tools: pagesOf('tools', all.tools),
    prompts: pagesOf('prompts', all.prompts),
    resources: pagesOf('resources', all.listed),
    templates: pagesOf('resourceTemplates', all.templates),
    tool: (name) => tools.get(name),
    nearestTools: createNearestNames(tools.keys()),
    prompt: (name) => prompts.get(name),
    template: (uriTemplate) => templates.get(uriTemplate),
    resource (uri) {
      const match = find(uri)
      // Scopes are checked on this match only. A more general template without scopes must not give access to
      // a resource that a more specific one protects.
      return match !== undefined && maySee(match.resource) ? match : undefined
    }
  }
}

/** `public` only when no entry has scopes: the list is then the same for every caller. */
function cacheScopeOf (offered: readonly CompiledPrimitive[]): CacheScope {
  return offered.some(({ scopes }) => scopes.length > 0) ? 'private' : 'public'
}

function byKey<T extends CompiledPrimitive> (offered: readonly T[]): ReadonlyMap<string, T> {
  return new Map(offered.map((one) => [one.key, one]))
}
