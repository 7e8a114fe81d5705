// The capabilities that a client and a server declare to each other, and how they are compared.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities

import { isDeepStrictEqual } from 'node:util'
import { TASKS_EXTENSION } from './tasks.ts'

/** The settings of one capability. `{}` declares the capability with no settings. */
export type CapabilitySettings = { [key: string]: unknown }

/** The client declares these in the `_meta` of each request. Unknown members are kept: the set is open. */
export interface ClientCapabilities {
  elicitation?: CapabilitySettings
  sampling?: CapabilitySettings
  roots?: CapabilitySettings
  experimental?: { [key: string]: CapabilitySettings }
  extensions?: { [key: string]: CapabilitySettings }
}

/** This service declares these in `server/discover` and in the result of `initialize`. */
export interface ServerCapabilities {
  tools?: { listChanged?: boolean }
  prompts?: { listChanged?: boolean }
  resources?: { listChanged?: boolean, subscribe?: boolean }
  completions?: CapabilitySettings
  logging?: CapabilitySettings
}

/** @param changingLists the lists that can change while the service runs. */
export function toServerCapabilities (changingLists: ReadonlySet<string>): ServerCapabilities {
  const changesOf = (list: string) => changingLists.has(list) ? { listChanged: true } : {}
  return {
    tools: changesOf('tools'),
    prompts: changesOf('prompts'),
    resources: { ...changesOf('resources'), subscribe: true },
    completions: {},
    logging: {}
  }
}

/** Returns what a plain client declares: neither elicitation nor tasks. */
export function toPlainCapabilities (
  { elicitation, extensions = {}, ...capabilities }: ClientCapabilities
): ClientCapabilities {
  const { [TASKS_EXTENSION]: tasks, ...otherExtensions } = extensions
  return { ...capabilities, extensions: otherExtensions }
}

/** Joins several sets of required capabilities. */
export function mergeCapabilities (all: readonly ClientCapabilities[]): ClientCapabilities {
  const union: ClientCapabilities = {}
  for (const { elicitation, sampling, roots } of all) {
    if (elicitation !== undefined) union.elicitation = { ...union.elicitation, ...elicitation }
    if (sampling !== undefined) union.sampling = { ...union.sampling, ...sampling }
    if (roots !== undefined) union.roots = roots
  }
  return union
}

/** Why a request needs a capability. */
const REASONS = new Map([
  ['elicitation', 'It asks the user.'],
  ['sampling', 'It asks the model of the client.'],
  ['roots', 'It asks for the folders of the client.'],
  ['io.modelcontextprotocol/tasks', 'Its answer is a task.']
])

/** Names the capabilities, and says what a request does with them. */
export function describeNeed ({ extensions = {}, ...capabilities }: ClientCapabilities): string {
  const names = [...Object.keys(capabilities), ...Object.keys(extensions)]
  const reasons = names.flatMap((name) => REASONS.get(name) ?? []).map((reason) => ` ${reason}`)
  return `${names.join(', ')}.${reasons.join('')}`
}

/** Returns the part of `required` that `declared` lacks. `undefined` when nothing is missing. */
export function findMissingCapabilities (
  required: ClientCapabilities, declared: ClientCapabilities
): ClientCapabilities | undefined {
  return findMissing({ ...required }, { ...declared, ...withFormMode(declared) })
}

/**
 * Adds the mode `form` where there is none: a client that declares `elicitation` alone supports forms.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
 */
function withFormMode ({ elicitation }: ClientCapabilities): ClientCapabilities {
  if (!isDeclaration(elicitation)) return {}
  const { form, url } = elicitation
  return form === undefined && url === undefined ? { elicitation: { ...elicitation, form: {} } } : {}
}

type Declaration = { readonly [key: string]: unknown }

function findMissing (required: Declaration, declared: Declaration): Declaration | undefined {
  const missing: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(required)) {
    const declaration = declared[key]
    if (isDeclaration(value) && isDeclaration(declaration)) {
      const inner = findMissing(value, declaration)
      if (inner !== undefined) missing[key] = inner
    } else if (!isDeepStrictEqual(value, declaration)) {
      missing[key] = value
    }
  }
  return Object.keys(missing).length === 0 ? undefined : missing
}

// Not `isObject` of json-rpc.ts: that file imports errors.ts, which imports this one.
function isDeclaration (value: unknown): value is Declaration {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
