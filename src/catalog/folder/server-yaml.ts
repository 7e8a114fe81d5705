// Reads server.yaml: the name and description of the service, how long clients may cache results, which
// scopes include others, the limits of calls, the guard of clients, the tool that continues calls, how
// schemas are listed, and the clients that are plain.

import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { readPlainFile } from '../../base/file-system.ts'
import { codeOf } from '../../base/words.ts'
import type { CacheScope } from '../../platform/protocol/primitives.ts'
import { Type, type Static } from '../../platform/schema/type.ts'
import type { ServerSettings } from '../compiled/contents.ts'
import { argumentsMode, callLimits, icon, scopeToken } from '../compiled/definitions/definition-shapes.ts'
import { createSettingsReader } from './settings-reader.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional
const milliseconds = optional(Type.Integer({ minimum: 0, maximum: 31_536_000_000 }))
const text = optional(Type.String({ minLength: 1 }))
const MAX_SCOPES = 1000

const shape = Type.Object({
  name: text,
  title: text,
  version: text,
  description: text,
  websiteUrl: optional(Type.String({ format: 'uri' })),
  icons: optional(Type.Array(icon)),
  instructions: text,
  cache: optional(Type.Object({
    listTtlMs: milliseconds, readTtlMs: milliseconds, cacheScope: optional(Type.Enum(['public', 'private']))
  }, closed)),
  pageSize: optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  limits: optional(callLimits),
  arguments: argumentsMode,
  guard: optional(Type.Enum(['off', 'warn', 'refuse'])),
  continueTool: optional(Type.Enum(['on', 'off'])),
  schemas: optional(Type.Enum(['auto', 'as-written'])),
  clients: optional(Type.Array(Type.Object({
    name: Type.String({ minLength: 1, maxLength: 200 }), plain: Type.Boolean()
  }, closed), { maxItems: 100 })),
  watchIgnore: optional(Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 100 })),
  scopes: optional(Type.Array(Type.Object({
    name: scopeToken, description: text, includes: optional(Type.Array(scopeToken, { maxItems: MAX_SCOPES }))
  }, closed), { maxItems: MAX_SCOPES }))
}, closed)

const readSettings = createSettingsReader(shape)

export const SERVER_FILE = 'server.yaml'

/** Short, because some clients do not listen for changes. */
const DEFAULT_LIST_TTL_MS = 60_000

/** What server.yaml says. */
export interface ServerFile extends ServerSettings {
  /** Globs of paths relative to the catalog folder. A change of these files never causes a reload. */
  readonly watchIgnore: readonly string[]
}

/**
 * Rejects with a SyntaxError or a YAMLParseError that names the problem of the file.
 * @param openCacheScope counts if the file does not have one.
 */
export async function readServerSettings (
  root: string, openCacheScope: CacheScope = 'public'
): Promise<ServerFile> {
  const bytes = await readPlainFile(join(root, SERVER_FILE)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  const yaml = bytes === undefined ? '' : String(bytes)
  return toServerFile(root, readSettings(parse(yaml) ?? {}), openCacheScope)
}

/** @param settings none without a valid file. */
export function toServerFile (
  root: string, settings: Static<typeof shape>, openCacheScope: CacheScope
): ServerFile {
  const {
    name = basename(root) || 'trivet', version = '0.0.0', instructions, cache = {}, pageSize, scopes = [],
    limits, arguments: argumentsMode, guard, continueTool = 'on', schemas, clients = [], watchIgnore = [],
    ...info
  } = settings
  return {
    info: { name, version, ...info },
    instructions,
    listTtlMs: cache.listTtlMs ?? DEFAULT_LIST_TTL_MS,
    readTtlMs: cache.readTtlMs ?? 0,
    openCacheScope: cache.cacheScope ?? openCacheScope,
    pageSize,
    limits,
    arguments: argumentsMode,
    guard,
    continuesCalls: continueTool === 'on',
    schemas,
    plainClients: clients.filter(({ plain }) => plain).map((client) => client.name),
    watchIgnore,
    scopes: scopes.map(
      (definition, index) => ({ definition, file: SERVER_FILE, place: `scopes[${index}]` })
    )
  }
}
