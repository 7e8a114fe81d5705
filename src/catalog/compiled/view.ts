// A view: the primitives of a snapshot that one set of granted scopes may see and use. A view is cheap to
// make: all views share the look-ups, and pages are made for the first request of a list.

import { createNearestNames } from '../../base/nearest-names.ts'
import type { Stepwise } from '../../base/turns.ts'
import {
  byKey, type CompiledPrimitive, type CompiledSkill, type CompiledTool, indexByKey
} from './compiled-primitive.ts'
import type { CompiledPrompt } from './definitions/compile-prompt.ts'
import type { CompiledResource, CompiledTemplate } from './definitions/compile-resource.ts'
import { findSkillDirectories } from './definitions/compile-skill.ts'
import { openOfferedList, type ListOptions } from './lists/offered-list.ts'
import { createPages, type Pages } from './lists/pages.ts'
import { createResourceLookup, type ResourceMatch } from './resources/resource-lookup.ts'
import { checkScopes, maySee, mayUse, type IsGranted } from './scopes/access-rule.ts'

/** All primitives of a snapshot, each list in its order. */
export interface Primitives {
  readonly tools: readonly CompiledTool[]
  readonly prompts: readonly CompiledPrompt[]
  readonly resources: readonly CompiledResource[]
  readonly templates: readonly CompiledTemplate[]
  readonly skills: readonly CompiledSkill[]
  /** The entries of `resources/list`: the resources, and the entries that templates list. */
  readonly listed: readonly CompiledPrimitive[]
}

/**
 * A primitive that the caller may not see is `undefined`, like one that does not exist. The functions that
 * return a primitive throw InsufficientScope if the caller sees it but may not use it.
 */
export interface View {
  readonly tools: Pages
  readonly prompts: Pages
  readonly resources: Pages
  readonly templates: Pages
  readonly skills: Pages
  tool (name: string): CompiledTool | undefined
  /** Whether the caller sees a tool of this name. Does not throw. */
  hasTool (name: string): boolean
  /** Returns at most three names of tools that a misspelt name may mean. */
  nearestTools (name: string): string[]
  prompt (name: string): CompiledPrompt | undefined
  template (uriTemplate: string): CompiledTemplate | undefined
  /** Finds the skill of this URI, if the caller sees it. Does not throw. */
  skill (uri: string): CompiledSkill | undefined
  /** Lists what is directly in a directory of the skills that the caller sees. Does not throw. */
  skillDirectory (uri: string): Pages | undefined
  /** Finds the resource of this URI; if none has it, the most specific template that matches. */
  resource (uri: string): ResourceMatch | undefined
  /** Finds the resources of those URIs that have one. One error names the scopes of all of them. */
  resourcesAt (uris: readonly string[]): readonly ResourceMatch[]
  /**
   * Finds a primitive that exists and that the caller does not see. For observers: a client must
   * not learn of it. Does not throw.
   */
  hidden (kind: 'tool' | 'prompt' | 'resource', name: string): CompiledPrimitive | undefined
  /** Finds the entry of `resources/list` with this URI, whether or not the caller sees it. */
  listed (uri: string): CompiledPrimitive | undefined
  /** Whether the caller may learn that the resource with this URI has changed. Does not throw. */
  mayHearOf (uri: string): boolean
}

/** Makes the views of one snapshot. */
export function * createViews (
  all: Primitives, options: ListOptions
): Stepwise<(isGranted: IsGranted) => View> {
  const lists = {
    tools: yield * openOfferedList('tools', all.tools, options),
    prompts: yield * openOfferedList('prompts', all.prompts, options),
    resources: yield * openOfferedList('resources', all.listed, options),
    templates: yield * openOfferedList('resourceTemplates', all.templates, options),
    skills: yield * openOfferedList('skills', all.skills, options)
  }
  const tools = yield * indexByKey(all.tools)
  const prompts = yield * indexByKey(all.prompts)
  const templates = yield * indexByKey(all.templates)
  const skills = yield * indexByKey(all.skills)
  const findResource = createResourceLookup(all.resources, all.templates, all.listed)
  yield
  const findNearest = createNearestNames(tools.keys())
  // Made for the first link to a resource: most services send none.
  let entries: ReadonlyMap<string, CompiledPrimitive> | undefined
  const areResourcesOpen = [all.resources, all.templates, all.listed].every(
    (primitives) => primitives.every(({ scopes }) => scopes.length === 0)
  )

  return (isGranted) => {
    const sees = (primitive: CompiledPrimitive | undefined) =>
      primitive !== undefined && maySee(primitive, isGranted)

    function admit<P extends CompiledPrimitive> (primitive: P | undefined): P | undefined {
      if (primitive === undefined || mayUse(primitive, isGranted)) return primitive
      if (maySee(primitive, isGranted)) checkScopes([primitive], isGranted)
      return undefined
    }

    function resourcesAt (uris: readonly string[]): readonly ResourceMatch[] {
      const matches = uris.map((uri) => findResource(uri, isGranted)).filter((hit) => typeof hit === 'object')
      checkScopes(matches.flatMap(({ guards }) => guards), isGranted)
      return matches
    }

    function findAny (kind: 'tool' | 'prompt' | 'resource', name: string): CompiledPrimitive | undefined {
      if (kind !== 'resource') return (kind === 'tool' ? tools : prompts).get(name)
      const match = findResource(name, () => true)
      return typeof match === 'object' ? match.resource : undefined
    }

    // Made for the first directory that is read: few clients read any.
    let directories: ReadonlyMap<string, Pages> | undefined
    function findDirectories (): ReadonlyMap<string, Pages> {
      const entriesByUri = findSkillDirectories(all.skills, all.resources, isGranted)
      return new Map([...entriesByUri].map(
        ([uri, entries]) => [uri, createPages(entries, { ...options, member: 'resources', list: uri })]
      ))
    }

    return {
      get tools () { return lists.tools(isGranted) },
      get prompts () { return lists.prompts(isGranted) },
      get resources () { return lists.resources(isGranted) },
      get templates () { return lists.templates(isGranted) },
      get skills () { return lists.skills(isGranted) },
      tool: (name) => admit(tools.get(name)),
      hasTool: (name) => sees(tools.get(name)),
      nearestTools: (name) => findNearest(name, (nearest) => sees(tools.get(nearest))),
      prompt: (name) => admit(prompts.get(name)),
      template: (uriTemplate) => admit(templates.get(uriTemplate)),
      skill (uri) {
        const skill = skills.get(uri)
        return sees(skill) ? skill : undefined
      },
      skillDirectory: (uri) => (directories ??= findDirectories()).get(uri),
      // `resourcesAt` makes lists, which take 1.3 µs of a read, a fiftieth of its CPU (profile, Node 20).
      resource (uri) {
        const match = findResource(uri, isGranted)
        if (typeof match !== 'object') return undefined
        checkScopes(match.guards, isGranted)
        return match
      },
      resourcesAt,
      hidden (kind, name) {
        const primitive = findAny(kind, name)
        return sees(primitive) ? undefined : primitive
      },
      listed: (uri) => (entries ??= byKey(all.listed)).get(uri),
      mayHearOf (uri) {
        // A handler may announce thousands of changes, and a look-up matches all templates.
        if (areResourcesOpen) return true
        const match = findResource(uri, isGranted)
        if (typeof match !== 'object') return match === undefined
        return !match.isShadowed && match.guards.every((guard) => mayUse(guard, isGranted))
      }
    }
  }
}
