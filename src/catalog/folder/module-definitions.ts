// Finds the definitions that a module exports, and the place and the message of its errors.

import type { DependencyDefinition } from '../../author/define-dependency.ts'
import type { HandleDefinition } from '../../author/define-handle.ts'
import type { PromptDefinition } from '../../author/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../../author/define-resource.ts'
import type { SettingsDefinition } from '../../author/define-settings.ts'
import type { ToolDefinition } from '../../author/define-tool.ts'
import { kindOf, type DefinitionKind } from '../../author/definition.ts'
import { messageOf } from '../../base/words.ts'
import type { Namespace } from '../modules/namespace.ts'

export interface FoundDefinition<D = unknown> {
  /** The name of the export, with the index in a list. Empty for a single default export. */
  readonly place: string
  readonly definition: D
}

/**
 * Every definition among the exports and in exported lists. A definition that is exported twice is returned
 * once.
 */
export function findDefinitions (namespace: Namespace): readonly FoundDefinition[] {
  const known = found.get(namespace)
  if (known !== undefined) return known
  const seen = new Set<unknown>()
  const definitions = findAll(namespace).filter(({ definition }) => seen.size < seen.add(definition).size)
  found.set(namespace, definitions)
  return definitions
}

/** Several loads may use one module. */
const found = new WeakMap<Namespace, readonly FoundDefinition[]>()

function findAll (namespace: Namespace): FoundDefinition[] {
  return Object.entries(namespace).flatMap(([name, value]) => {
    const place = name === 'default' ? '' : name
    if (!Array.isArray(value)) return kindOf(value) === undefined ? [] : [{ place, definition: value }]
    return value.flatMap((one: unknown, index) => {
      return kindOf(one) === undefined ? [] : [{ place: `${name}[${index}]`, definition: one }]
    })
  })
}

export const isTool = (value: unknown): value is ToolDefinition => kindOf(value) === 'tool'
export const isPrompt = (value: unknown): value is PromptDefinition => kindOf(value) === 'prompt'
export const isResource = (value: unknown): value is ResourceDefinition => kindOf(value) === 'resource'
export const isHandle = (value: unknown): value is HandleDefinition => kindOf(value) === 'handle'
export const isSettings = (value: unknown): value is SettingsDefinition => kindOf(value) === 'settings'
export const isDependency = (value: unknown): value is DependencyDefinition => kindOf(value) === 'dependency'
/** Whether a value is a definition that clients are not offered. */
export const isRegistered = (value: unknown): boolean =>
  isHandle(value) || isSettings(value) || isDependency(value)
export const isTemplate = (
  value: unknown
): value is ResourceTemplateDefinition => kindOf(value) === 'resource-template'

export const DEFINE_FUNCTIONS: { readonly [K in DefinitionKind]: string } = {
  tool: 'defineTool',
  prompt: 'definePrompt',
  resource: 'defineResource',
  'resource-template': 'defineResourceTemplate',
  handle: 'defineHandle',
  settings: 'defineSettings',
  dependency: 'defineDependency'
}

/** The line of `file` where an error arose. Empty if the error does not tell. */
export function placeOf (error: unknown, file: string): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('loc' in error && typeof error.loc === 'object' && error.loc !== null && 'line' in error.loc) {
    return `line ${String(error.loc.line)}`
  }
  if ('linePos' in error && Array.isArray(error.linePos)) return `line ${String(error.linePos[0]?.line)}`
  const stack = error instanceof Error ? error.stack ?? '' : ''
  const at = stack.indexOf(`${file}:`)
  const [, line] = at === -1 ? [] : /^(\d+)/.exec(stack.slice(at + file.length + 1)) ?? []
  return line === undefined ? '' : `line ${line}`
}

/** The column of an error of syntax, from 1, as a member of its problem. */
export function columnOf (error: unknown): { readonly column?: number } {
  if (typeof error !== 'object' || error === null) return {}
  if ('linePos' in error && Array.isArray(error.linePos)) return { column: Number(error.linePos[0]?.col) }
  const { loc } = 'loc' in error ? error : { loc: undefined }
  return typeof loc === 'object' && loc !== null && 'column' in loc ? { column: Number(loc.column) + 1 } : {}
}

/** The longest message of an error in a problem. */
const MAX_RULE = 600

/**
 * An error's message on one line. What follows the first line of a syntax error is the source, which has its
 * place in the problem. After "Require stack:" Node lists which modules asked for the missing one.
 */
export function ruleOf (error: unknown): string {
  const message = messageOf(error)
  const [first = '', ...rest] = message.split('\n')
  if (isSyntaxProblem(error)) return first.replace(/ at line \d+, column \d+:$/, '')
  const end = rest.findIndex((line) => line.startsWith('Require stack:'))
  const lines = [first, ...end === -1 ? rest : rest.slice(0, end)].map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ').slice(0, MAX_RULE)
}

function isSyntaxProblem (error: unknown): boolean {
  return error instanceof SyntaxError ||
    (typeof error === 'object' && error !== null && ('loc' in error || 'linePos' in error))
}
