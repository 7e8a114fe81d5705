// What changed between two catalogs, and which changes break clients.

import type { CatalogContents, Located } from '../catalog/contents.ts'
import type { CompiledPrimitive } from '../catalog/compiled-primitive.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { Prompt, Tool } from '../protocol/primitives.ts'
import { findNarrowings, membersOf, type Narrowing } from './narrowing.ts'

export interface Change {
  readonly isBreaking: boolean
  /** Such as `tool search_books`. */
  readonly subject: string
  /** Of the definition, relative to its catalog. */
  readonly file: string
  readonly rule: string
}

/** A catalog as it was read, and as it is served. */
export interface Compared { readonly contents: CatalogContents, readonly snapshot: Snapshot }

interface Entry { readonly primitive: CompiledPrimitive, readonly file: string }

type Describe = (isBreaking: boolean, rule: string) => void
type Compare = (before: CompiledPrimitive, after: CompiledPrimitive, describe: Describe) => void

export function findChanges (before: Compared, after: Compared): Change[] {
  return [
    ...compareAll('tool', before, after, compareTools),
    ...compareAll('prompt', before, after, comparePrompts),
    ...compareAll('resource', before, after, compareScopes),
    ...compareAll('resource template', before, after, compareScopes)
  ]
}

const SOURCES = {
  tool: ({ contents, snapshot }: Compared) => entries(contents.tools, snapshot.primitives.tools),
  prompt: ({ contents, snapshot }: Compared) => entries(contents.prompts, snapshot.primitives.prompts),
  resource: ({ contents, snapshot }: Compared) => entries(contents.resources, snapshot.primitives.listed),
  'resource template': ({ contents, snapshot }: Compared) => {
    return entries(contents.templates, snapshot.primitives.templates)
  }
}

interface Keyed { readonly name?: string, readonly uri?: string, readonly uriTemplate?: string }

function entries (
  definitions: ReadonlyArray<Located<Keyed>>, primitives: readonly CompiledPrimitive[]
): ReadonlyMap<string, Entry> {
  const files = new Map(definitions.flatMap(({ definition: { name, uri, uriTemplate }, file }) => (
    [name, uri, uriTemplate].map((key) => [key, file] as const)
  )))
  return new Map(primitives.map((primitive) => [
    primitive.key, { primitive, file: files.get(primitive.key) ?? '' }
  ]))
}

function compareAll (
  kind: keyof typeof SOURCES, before: Compared, after: Compared, compare: Compare
): Change[] {
  const [old, next] = [SOURCES[kind](before), SOURCES[kind](after)]
  const changes: Change[] = []
  for (const [key, { primitive, file }] of old) {
    const now = next.get(key)
    const subject = `${kind} ${key}`
    if (now === undefined) changes.push({ isBreaking: true, subject, file, rule: 'is gone' })
    else {
      compare(primitive, now.primitive, (isBreaking, rule) => {
        changes.push({ isBreaking, subject, file: now.file, rule })
      })
    }
  }
  for (const [key, { file }] of next) {
    if (!old.has(key)) changes.push({ isBreaking: false, subject: `${kind} ${key}`, file, rule: 'is new' })
  }
  return changes
}

function compareTools (before: CompiledPrimitive, after: CompiledPrimitive, describe: Describe): void {
  const [old, next]: [Tool, Tool] = [JSON.parse(before.json), JSON.parse(after.json)]
  compareScopes(before, after, describe)
  const [args, now] = [membersOf({ ...old.inputSchema }), membersOf({ ...next.inputSchema })]
  const removed = Object.keys(args).filter((name) => !(name in now))
  for (const name of removed) describe(true, `no longer has the argument ${name}`)
  for (const narrowing of findNarrowings(old.inputSchema, next.inputSchema)) {
    if (narrowing.kind !== 'removed' || narrowing.place !== '') describe(true, describeInput(narrowing))
  }
  for (const name of Object.keys(now)) {
    if (!(name in args)) describe(false, `has a new argument ${name}`)
  }
  if (old.outputSchema === undefined) return
  if (next.outputSchema === undefined) return describe(true, 'no longer has structured results')
  for (const widening of findNarrowings(next.outputSchema, old.outputSchema)) {
    describe(true, describeOutput(widening))
  }
}

function describeInput ({ place, kind, what }: Narrowing): string {
  const at = place === '' ? 'arguments: ' : `argument ${place}: `
  switch (kind) {
    case 'required': return `${at}${what} is newly required`
    case 'removed': return `${at}${what} is gone`
    case 'bound': return `${at}has the narrower limit ${what}`
    case 'incomparable': return `${at}${what} has changed, and cannot be compared`
    default: return `${at}no longer accepts ${what}`
  }
}

function describeOutput ({ place, kind, what }: Narrowing): string {
  const at = place === '' ? 'results: ' : `result ${place}: `
  switch (kind) {
    case 'required': return `${at}${what} may be missing`
    case 'bound': return `${at}may be outside ${what}`
    case 'incomparable': return `${at}${what} has changed, and cannot be compared`
    default: return `${at}may now have ${what}`
  }
}

function comparePrompts (before: CompiledPrimitive, after: CompiledPrimitive, describe: Describe): void {
  const [old, next]: [Prompt, Prompt] = [JSON.parse(before.json), JSON.parse(after.json)]
  compareScopes(before, after, describe)
  const byName = new Map((next.arguments ?? []).map((argument) => [argument.name, argument]))
  const names = new Set((old.arguments ?? []).map(({ name }) => name))
  for (const { name, required = false } of old.arguments ?? []) {
    const now = byName.get(name)
    if (now === undefined) describe(true, `no longer has the argument ${name}`)
    else if (now.required === true && !required) describe(true, `argument ${name} is newly required`)
  }
  for (const { name, required = false } of byName.values()) {
    if (names.has(name)) continue
    describe(required, `has a new argument ${name}${required ? ', which is required' : ''}`)
  }
}

function compareScopes (before: CompiledPrimitive, after: CompiledPrimitive, describe: Describe): void {
  const added = after.scopes.filter((scope) => !before.scopes.includes(scope))
  if (added.length > 0) describe(true, `newly needs the scope ${added.join(' ')}`)
  const dropped = before.scopes.filter((scope) => !after.scopes.includes(scope))
  if (dropped.length > 0) describe(false, `no longer needs the scope ${dropped.join(' ')}`)
}
