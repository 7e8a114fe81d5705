// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization

import { Type } from 'typebox'
import type { Snapshot } from '../../catalog/snapshot.ts'
import { toLegacyImplementation } from '../../legacy/legacy-entries.ts'
import type { Settled } from '../../legacy/sessions.ts'
import { toServerCapabilities } from '../../protocol/capabilities.ts'
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
  const { completions, ...capabilities } = toServerCapabilities(isWatching)
  const serverInfo = toLegacyImplementation(info, revision)
  return {
    settled: { revision, clientInfo, clientCapabilities },
    result: JSON.stringify({
      protocolVersion: revision,
      capabilities: { ...capabilities, ...(hasCompletionsCapability(revision) && { completions }) },
      serverInfo,
      instructions
    })
  }
}
