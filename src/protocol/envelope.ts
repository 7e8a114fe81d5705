// The reserved `_meta` of one modern request: everything that a handshake used to settle, said each time.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta

import type { ClientCapabilities } from './capabilities.ts'
import { invalidEnvelope, invalidParams } from './errors.ts'
import { isObject, type Params } from './json-rpc.ts'
import { isLogLevel, LOG_LEVELS, type LogLevel } from './log-levels.ts'
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_PROTOCOL_VERSION } from './meta-keys.ts'
import type { Implementation } from './primitives.ts'

export type ProgressToken = string | number

export interface Envelope {
  readonly revision: string
  readonly clientCapabilities: ClientCapabilities
  /** For display and logs only: nothing may depend on it. */
  readonly clientInfo: Implementation | undefined
  readonly logLevel: LogLevel | undefined
  readonly progressToken: ProgressToken | undefined
}

/** Parses the envelope or throws, naming the field. */
export function readEnvelope (params: Params | undefined): Envelope {
  const meta = params?._meta
  if (!isObject(meta)) throw invalidEnvelope(`params._meta is missing; it must carry ${META_PROTOCOL_VERSION} and ${META_CLIENT_CAPABILITIES}`)
  const revision = meta[META_PROTOCOL_VERSION]
  if (typeof revision !== 'string') throw invalidEnvelope(`params._meta["${META_PROTOCOL_VERSION}"] must be a string`)
  const clientCapabilities = meta[META_CLIENT_CAPABILITIES]
  if (!isObject(clientCapabilities)) throw invalidEnvelope(`params._meta["${META_CLIENT_CAPABILITIES}"] must be an object`)
  return {
    revision,
    clientCapabilities,
    clientInfo: readClientInfo(meta[META_CLIENT_INFO]),
    logLevel: readLogLevel(meta[META_LOG_LEVEL]),
    progressToken: readProgressToken(meta.progressToken)
  }
}

function readClientInfo (info: unknown): Implementation | undefined {
  const implementation = toImplementation(info)
  if (info === undefined || implementation !== undefined) return implementation
  throw invalidParams(`params._meta["${META_CLIENT_INFO}"] must be an object with "name" and "version"`)
}

/** `undefined` for whatever is none. */
export function toImplementation (info: unknown): Implementation | undefined {
  return isObject(info) && typeof info.name === 'string' && typeof info.version === 'string' ? { ...info, name: info.name, version: info.version } : undefined
}

function readLogLevel (level: unknown): LogLevel | undefined {
  if (level === undefined || isLogLevel(level)) return level
  throw invalidParams(`params._meta["${META_LOG_LEVEL}"] must be one of ${LOG_LEVELS.join(', ')}`)
}

export function readProgressToken (token: unknown): ProgressToken | undefined {
  if (token === undefined || typeof token === 'string') return token
  if (typeof token === 'number' && Number.isInteger(token)) return token
  throw invalidParams('params._meta.progressToken must be a string or an integer')
}
