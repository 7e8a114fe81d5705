// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization

import { Type } from 'typebox'
import type { Snapshot } from '../../catalog/snapshot.ts'
import { toLegacyImplementation } from '../../legacy/legacy-entries.ts'
import type { Settled } from '../../legacy/sessions.ts'
import type { ClientCapabilities, ServerCapabilities } from '../../protocol/capabilities.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import { negotiate } from '../../protocol/legacy-revisions.ts'
import { hasCompletionsCapability } from '../../protocol/revision-features.ts'
import { createParamsReader } from '../../schema/params.ts'

const readParams = createParamsReader(Type.Object({
  protocolVersion: Type.String(),
  capabilities: Type.Object({}),
  clientInfo: Type.Object({ name: Type.String(), version: Type.String() })
}))

export interface Initialized {
  readonly settled: Settled
  /** The result, as JSON. */
  readonly result: string
}

/** Throws invalid params. */
export function initialize (params: unknown, { server: { info, instructions } }: Snapshot, isWatching: boolean): Initialized {
  const { protocolVersion, capabilities: clientCapabilities, clientInfo } = readParams(params)
  const revision = negotiate(protocolVersion)
  const listChanged = isWatching ? { listChanged: true } : {}
  const capabilities: ServerCapabilities = {
    tools: listChanged,
    prompts: listChanged,
    resources: { ...listChanged, subscribe: true },
    logging: {},
    ...(hasCompletionsCapability(revision) && { completions: {} })
  }
  return {
    settled: { revision, clientInfo, clientCapabilities: withFormMode(clientCapabilities) },
    result: JSON.stringify({ protocolVersion: revision, capabilities, serverInfo: toLegacyImplementation(info, revision), instructions })
  }
}

/** Elicitation that names no mode is elicitation by form: at first there was no other. */
function withFormMode (capabilities: ClientCapabilities): ClientCapabilities {
  const { elicitation } = capabilities
  const namesNoMode = isObject(elicitation) && elicitation.form === undefined && elicitation.url === undefined
  return namesNoMode ? { ...capabilities, elicitation: { ...elicitation, form: {} } } : capabilities
}
