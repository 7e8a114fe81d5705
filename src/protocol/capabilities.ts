// What each side declares that it can do.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities

import { isDeepStrictEqual } from 'node:util'

export type Settings = { [key: string]: unknown }

/** Declared by the client in each request's `_meta`; an open set. */
export interface ClientCapabilities {
  elicitation?: Settings
  sampling?: Settings
  roots?: Settings
  experimental?: { [key: string]: Settings }
  extensions?: { [key: string]: Settings }
}

/** Declared by this service: in `server/discover`, and where a session is made. */
export interface ServerCapabilities {
  tools?: { listChanged?: boolean }
  prompts?: { listChanged?: boolean }
  resources?: { listChanged?: boolean, subscribe?: boolean }
  completions?: Settings
  logging?: Settings
}

/** @param isWatching whether the catalog can change while the service runs. */
export function toServerCapabilities (isWatching: boolean): ServerCapabilities {
  const listChanged = isWatching ? { listChanged: true } : {}
  return {
    tools: listChanged,
    prompts: listChanged,
    resources: { ...listChanged, subscribe: true },
    completions: {},
    logging: {}
  }
}

type Declared = { readonly [key: string]: unknown }

function isDeclared (value: unknown): value is Declared {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The part of `required` that `declared` does not have, or `undefined` where nothing is missing. */
export function missingCapabilities (required: ClientCapabilities, declared: ClientCapabilities): ClientCapabilities | undefined {
  return missing({ ...required }, { ...declared })
}

function missing (required: Declared, declared: Declared): Declared | undefined {
  const lacking: { [key: string]: unknown } = {}
  for (const [key, wanted] of Object.entries(required)) {
    const had = declared[key]
    if (isDeclared(wanted) && isDeclared(had)) {
      const deeper = missing(wanted, had)
      if (deeper !== undefined) lacking[key] = deeper
    } else if (!isDeepStrictEqual(wanted, had)) {
      lacking[key] = wanted
    }
  }
  return Object.keys(lacking).length === 0 ? undefined : lacking
}
