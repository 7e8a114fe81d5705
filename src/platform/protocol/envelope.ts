// The envelope of a modern request: the reserved `_meta` fields. Earlier revisions sent them in a handshake.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta

import type { ClientCapabilities } from './capabilities.ts'
import type { Meta } from './content.ts'
import { invalidEnvelope, invalidParams } from './errors.ts'
import { isObject, type Params } from './json-rpc.ts'
import { isLogLevel, LOG_LEVELS, type LogLevel } from './log-levels.ts'
import type { Implementation } from './primitives.ts'
import { CURRENT_REVISION } from './revisions.ts'

/** The reserved `_meta` keys of the specification, and Trivet's own. */
export const META_PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
const META_CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
export const META_SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
export const META_SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** In the result of `server/discover`: the version of the catalog of the replica that answered. */
export const META_CATALOG_VERSION = 'dev.trivet/catalogVersion'

export type ProgressToken = string | number

export interface Envelope {
  readonly revision: string
  readonly clientCapabilities: ClientCapabilities
  /** Not verified: for display and logs only. */
  readonly clientInfo: Implementation | undefined
  /** The lowest level of the log messages that the client asks for. */
  readonly logLevel: LogLevel | undefined
  readonly progressToken: ProgressToken | undefined
}

/** What a client says of itself, and how it wants to be told. */
interface OwnEnvelope {
  readonly info: Implementation
  readonly capabilities: ClientCapabilities
  readonly progressToken: ProgressToken
}

/** Makes the `_meta` of a request of a client in the current revision. It asks for all log messages. */
export function toEnvelopeJson ({ info, capabilities, progressToken }: OwnEnvelope): Params {
  return {
    [META_PROTOCOL_VERSION]: CURRENT_REVISION,
    [META_CLIENT_INFO]: info,
    [META_CLIENT_CAPABILITIES]: capabilities,
    [META_LOG_LEVEL]: 'debug' satisfies LogLevel,
    progressToken
  }
}

/** Parses the envelope. Throws invalid params that name the wrong field. */
export function readEnvelope (params: Params | undefined): Envelope {
  const meta = params?._meta
  if (!isObject(meta)) {
    const fields = `${META_PROTOCOL_VERSION} and ${META_CLIENT_CAPABILITIES}`
    throw invalidEnvelope(`params._meta is missing; it must carry ${fields}`)
  }
  const revision = meta[META_PROTOCOL_VERSION]
  if (typeof revision !== 'string') {
    throw invalidEnvelope(`${toPlace(META_PROTOCOL_VERSION)} must be a string`)
  }
  const clientCapabilities = meta[META_CLIENT_CAPABILITIES]
  if (!isObject(clientCapabilities)) {
    throw invalidEnvelope(`${toPlace(META_CLIENT_CAPABILITIES)} must be an object`)
  }
  return {
    revision,
    clientCapabilities,
    clientInfo: readClientInfo(meta[META_CLIENT_INFO]),
    logLevel: readLogLevel(meta[META_LOG_LEVEL]),
    progressToken: readProgressToken(meta.progressToken)
  }
}

const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  META_PROTOCOL_VERSION, META_CLIENT_INFO, META_CLIENT_CAPABILITIES, META_LOG_LEVEL, 'progressToken'
])

/** Returns the members of a request's `_meta` that its envelope does not have, such as `traceparent`. */
export function readOwnMeta (params: Params | undefined): Readonly<Meta> {
  const meta = params?._meta
  if (!isObject(meta)) return NO_META
  return Object.freeze(
    Object.fromEntries(Object.entries(meta).filter(([key]) => !ENVELOPE_KEYS.has(key)))
  )
}

const NO_META: Readonly<Meta> = Object.freeze({})

function toPlace (key: string): string {
  return `params._meta["${key}"]`
}

function readClientInfo (info: unknown): Implementation | undefined {
  const implementation = toImplementation(info)
  if (info === undefined || implementation !== undefined) return implementation
  throw invalidParams(`${toPlace(META_CLIENT_INFO)} must be an object with "name" and "version"`)
}

/** Returns `undefined` for a value that is not an implementation. */
export function toImplementation (info: unknown): Implementation | undefined {
  if (!isObject(info) || typeof info.name !== 'string' || typeof info.version !== 'string') return undefined
  return { ...info, name: info.name, version: info.version }
}

function readLogLevel (level: unknown): LogLevel | undefined {
  if (level === undefined || isLogLevel(level)) return level
  throw invalidParams(`${toPlace(META_LOG_LEVEL)} must be one of ${LOG_LEVELS.join(', ')}`)
}

export function readProgressToken (token: unknown): ProgressToken | undefined {
  if (token === undefined || (typeof token === 'string' && token.isWellFormed())) return token
  if (typeof token === 'number' && Number.isInteger(token)) return token
  throw invalidParams('params._meta.progressToken must be an integer or well-formed text')
}
