// Finds the resource or the template of a URI, for one caller.

import type { TemplateVariables } from '../../../platform/author/define-resource.ts'
import { byKey, compareListOrder, type CompiledPrimitive } from '../compiled-primitive.ts'
import type { CompiledResource, CompiledTemplate } from '../definitions/compile-resource.ts'
import { maySee, mayUse, type IsGranted } from '../scopes/access-rule.ts'
import { toUri } from './uri.ts'

/** `uri` is the resource's own: percent-encoded where the client left that out. */
export type ResourceMatch = FixedMatch | TemplateMatch

interface CommonMatch {
  readonly uri: string
  /**
   * Whether a more specific primitive has this URI and is hidden from the caller. The resource then does not
   * exist for the caller: the more general template must not give access to it.
   */
  readonly isShadowed: boolean
  /** Whose scopes the caller needs: the resource or the template, and the listed entry with this URI. */
  readonly guards: readonly CompiledPrimitive[]
}

interface FixedMatch extends CommonMatch { readonly kind: 'resource', readonly resource: CompiledResource }

interface TemplateMatch extends CommonMatch {
  readonly kind: 'template'
  readonly resource: CompiledTemplate
  readonly variables: TemplateVariables
}

/** @param listed the entries of the list. Those with scopes guard what a template reads. */
export function createResourceLookup (
  resources: readonly CompiledResource[], templates: readonly CompiledTemplate[],
  listed: readonly CompiledPrimitive[]
) {
  const byUri = byKey(resources)
  const guardedBySpelling = bySpelling(resources)
  const entryBySpelling = bySpelling(listed.filter(({ key }) => !byUri.has(key)))
  const specificFirst = templates.toSorted(
    (a, b) => b.template.literalLength - a.template.literalLength || compareListOrder(a, b)
  )

  // What the caller may not use is found under all spellings of the URI, anything else only as it is written.
  function findResource (spellings: Spellings, isGranted: IsGranted): CompiledResource | undefined {
    const resource = byUri.get(spellings[0])
    if (resource !== undefined || guardedBySpelling.size === 0) return resource
    const guarded = first(spellings, (spelling) => guardedBySpelling.get(spelling))
    return guarded !== undefined && mayUse(guarded, isGranted) ? undefined : guarded
  }

  function match (
    template: CompiledTemplate, spellings: Spellings, isGranted: IsGranted
  ): TemplateVariables | undefined {
    return mayUse(template, isGranted)
      ? template.template.match(spellings[0])
      : first(spellings, (spelling) => template.template.match(spelling))
  }

  /**
   * Finds the resource of this URI that the caller sees; if there is none, the most specific template that
   * the caller sees. `hidden`: all that match are hidden. `undefined`: nothing matches.
   */
  return (text: string, isGranted: IsGranted): ResourceMatch | 'hidden' | undefined => {
    const uri = byUri.has(text) ? text : toUri(text)
    if (uri === undefined) return undefined
    const spellings = spellingsOf(uri)
    const resource = findResource(spellings, isGranted)
    let isShadowed = resource !== undefined
    if (resource !== undefined && maySee(resource, isGranted)) {
      return { kind: 'resource', uri, resource, isShadowed: false, guards: [resource] }
    }
    const entry = entryBySpelling.size === 0
      ? undefined
      : first(spellings, (spelling) => entryBySpelling.get(spelling))
    const isEntryHidden = entry !== undefined && !maySee(entry, isGranted)
    isShadowed ||= isEntryHidden
    for (const template of specificFirst) {
      const variables = match(template, spellings, isGranted)
      if (variables === undefined) continue
      if (maySee(template, isGranted)) {
        const guards = entry === undefined || isEntryHidden ? [template] : [template, entry]
        return { kind: 'template', uri, resource: template, variables, isShadowed, guards }
      }
      isShadowed = true
    }
    return isShadowed ? 'hidden' : undefined
  }
}

/** Indexes the primitives with scopes by all spellings of their URIs. */
function bySpelling<P extends CompiledPrimitive> (all: readonly P[]): ReadonlyMap<string, P> {
  const guarded = all.filter(({ scopes }) => scopes.length > 0)
  return new Map(guarded.flatMap((item) => spellingsOf(item.key).map((spelling) => [spelling, item])))
}

/** The URI as it is written comes first. */
type Spellings = readonly [string, ...string[]]

function first<T, R> (all: readonly T[], toResult: (item: T) => R | undefined): R | undefined {
  for (const item of all) {
    const result = toResult(item)
    if (result !== undefined) return result
  }
  return undefined
}

const ENCODED_UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi

/**
 * Returns the URI, and URIs that a template reads as the same values: a caller must not reach a resource by
 * encoding a letter of its name.
 * https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.2
 */
function spellingsOf (uri: string): Spellings {
  if (!uri.includes('%')) return [uri]
  try {
    return [uri, uri.replaceAll(ENCODED_UNRESERVED, decodeURIComponent), encodeURI(decodeURIComponent(uri))]
  } catch (error) {
    // The encoded bytes are not UTF-8. No template matches the URI.
    if (error instanceof URIError) return [uri]
    throw error
  }
}
