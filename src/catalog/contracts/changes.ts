// What changed between two catalogs, and which changes break clients.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema, Prompt, Tool } from '../../platform/protocol/primitives.ts'
import type { Skill } from '../../platform/protocol/skills.ts'
import type { LoadedCatalog } from '../compiled/catalog.ts'
import { findDefinitionLine, type Problem } from '../compiled/problem.ts'
import { resolveReferences } from '../hosts/resolve-references.ts'
import { findNarrowings, membersOf, type Narrowing } from './narrowing.ts'
import { KINDS, offeredBy, type Offered, type OfferedKind, type OfferedPrimitive } from './offered.ts'
import { compareScreens, isUnusedScreen } from './screens.ts'

export interface OfferChange {
  readonly isBreaking: boolean
  readonly kind: OfferedKind
  /** The name or the URI. */
  readonly key: string
  /** The file of the definition, relative to its catalog. */
  readonly file: string
  /** The catalog that has the file: the old one for what is gone. */
  readonly from: 'old' | 'new'
  readonly rule: string
}

type Describe = (isBreaking: boolean, rule: string) => void
type Compare = (before: OfferedPrimitive, after: OfferedPrimitive, describe: Describe) => void

/** What is compared besides scopes. */
const COMPARISONS: { readonly [K in OfferedKind]?: Compare } = {
  tool: compareTools, prompt: comparePrompts, skill: compareSkills
}

export function findChanges (before: Offered, after: Offered): OfferChange[] {
  return KINDS.flatMap((kind) => compareAll(kind, before, after))
}

function compareAll (kind: OfferedKind, before: Offered, after: Offered): OfferChange[] {
  const [old, next] = [before[kind], after[kind]]
  const changes: OfferChange[] = []
  for (const [key, primitive] of old) {
    const now = next.get(key)
    if (now === undefined) {
      const isBreaking = kind !== 'resource' || !isUnusedScreen(key, before)
      changes.push({ isBreaking, kind, key, file: primitive.file, from: 'old', rule: 'is gone' })
    } else {
      const describe: Describe = (isBreaking, rule) => {
        changes.push({ isBreaking, kind, key, file: now.file, from: 'new', rule })
      }
      compareScopes(primitive, now, describe)
      compareUpstreams(primitive, now, describe)
      COMPARISONS[kind]?.(primitive, now, describe)
    }
  }
  for (const [key, { file }] of next) {
    if (!old.has(key)) changes.push({ isBreaking: false, kind, key, file, from: 'new', rule: 'is new' })
  }
  return changes
}

/** Without this limit a few definitions could become gigabytes. */
const MAX_COMPARED_BYTES = 262_144

/** References are resolved: the two sides may list one schema in two forms. */
function readTool ({ json }: OfferedPrimitive): Tool {
  const tool: Tool = JSON.parse(json)
  const resolve = (schema: JsonSchema): JsonSchema => (
    JSON.parse(resolveReferences(JSON.stringify(schema), MAX_COMPARED_BYTES))
  )
  const { inputSchema, outputSchema } = tool
  const output = outputSchema && { outputSchema: resolve(outputSchema) }
  return { ...tool, inputSchema: resolve(inputSchema), ...output }
}

function compareTools (before: OfferedPrimitive, after: OfferedPrimitive, describe: Describe): void {
  const [old, next] = [readTool(before), readTool(after)]
  compareScreens(old, next, describe)
  compareTasks(before, after, describe)
  const [args, now] = [membersOf({ ...old.inputSchema }), membersOf({ ...next.inputSchema })]
  for (const name of Object.keys(args)) {
    if (!(name in now)) describe(true, `no longer has the argument ${name}`)
  }
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

/** Running tasks call the tool again. The list of a service has neither its scopes nor its code. */
function compareTasks (
  { task: before }: OfferedPrimitive, { task: after, scopes }: OfferedPrimitive, describe: Describe
): void {
  if (before === undefined || scopes === undefined || before.fingerprint === after?.fingerprint) return
  const [change, isResumed] = after === undefined
    ? ['no longer begins tasks, and has other code', true]
    : ['has other code', after.mayGoOnChanged]
  describe(false, `${change}: running tasks ${isResumed ? 'go on in it' : "fail, by onDeploy: 'fail'"}`)
}

function describeInput ({ place, kind, what: change }: Narrowing): string {
  const at = place === '' ? 'arguments: ' : `argument ${place}: `
  switch (kind) {
    case 'required': return `${at}${change} is newly required`
    case 'removed': return `${at}${change} is gone`
    case 'bound': return `${at}has the narrower limit ${change}`
    case 'incomparable': return `${at}${change} has changed, and cannot be compared`
    default: return `${at}no longer accepts ${change}`
  }
}

function describeOutput ({ place, kind, what: change }: Narrowing): string {
  const at = place === '' ? 'results: ' : `result ${place}: `
  switch (kind) {
    case 'required': return `${at}${change} may be missing`
    case 'bound': return `${at}may be outside ${change}`
    case 'incomparable': return `${at}${change} has changed, and cannot be compared`
    default: return `${at}may now have ${change}`
  }
}

function comparePrompts (before: OfferedPrimitive, after: OfferedPrimitive, describe: Describe): void {
  const [old, next]: [Prompt, Prompt] = [JSON.parse(before.json), JSON.parse(after.json)]
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

/** Hosts ask their users again whether they trust a skill whose files have changed. */
function compareSkills (before: OfferedPrimitive, after: OfferedPrimitive, describe: Describe): void {
  const [old, next]: [Skill, Skill] = [JSON.parse(before.json), JSON.parse(after.json)]
  if (!isDeepStrictEqual(old.resources, next.resources)) describe(false, 'has other files, or other contents')
}

function compareScopes (
  { scopes: before }: OfferedPrimitive, { scopes: after }: OfferedPrimitive, describe: Describe
): void {
  if (before === undefined || after === undefined) return
  const missing = after.filter((scope) => !before.includes(scope))
  if (missing.length > 0) describe(true, `newly needs the scope ${missing.join(' ')}`)
  const dropped = before.filter((scope) => !after.includes(scope))
  if (dropped.length > 0) describe(false, `no longer needs the scope ${dropped.join(' ')}`)
}

/** No client sees the difference, but its data go elsewhere. The list of a service has no upstreams. */
function compareUpstreams (before: OfferedPrimitive, after: OfferedPrimitive, describe: Describe): void {
  if (before.scopes === undefined || after.scopes === undefined) return
  const [old, next] = [before.upstreams, after.upstreams]
  if (old === undefined && next === undefined) return
  if (next === undefined) return describe(false, 'may newly call every upstream of the catalog')
  const added = next.filter((name) => old?.includes(name) !== true)
  const dropped = old?.filter((name) => !next.includes(name)) ?? []
  if (old === undefined) describe(false, `calls these upstreams only: ${next.join(', ') || 'none'}`)
  else if (added.length > 0) describe(false, `newly calls the upstream ${added.join(', ')}`)
  if (dropped.length > 0) describe(false, `no longer calls the upstream ${dropped.join(', ')}`)
}

/**
 * Remembers what a catalog offers. The function that it returns finds what a later catalog breaks.
 * @param root the folder of both.
 */
export function createComparison (
  root: string, served: LoadedCatalog
): (next: LoadedCatalog) => Promise<Problem[]> {
  const before = offeredBy(served)
  return async (next) => {
    const breaks = findChanges(before, offeredBy(next)).filter(({ isBreaking }) => isBreaking)
    return await Promise.all(breaks.map(async (change) => await toProblem(root, change)))
  }
}

async function toProblem (root: string, { kind, key, file, rule }: OfferChange): Promise<Problem> {
  const text = await readFile(join(root, file), 'utf8').catch(() => '')
  const line = findDefinitionLine(text, key)
  return {
    file, place: line === undefined ? '' : `line ${line}`, rule: `breaks clients: ${kind} ${key} ${rule}`
  }
}
