// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization

import { toExtensions } from '../../catalog/compiled/snapshot.ts'
import { toServerCapabilities } from '../../protocol/capabilities.ts'
import { invalidRequest } from '../../protocol/errors.ts'
import { hasCompletionsCapability, negotiate } from '../../protocol/revisions.ts'
import type { ListName } from '../../protocol/notifications.ts'
import { defineMethod, type Method } from '../../request/pipeline/method.ts'
import { Type } from '../../schema/type.ts'
import { HandshakeCaller } from '../sessions/session-caller.ts'
import { toLegacyImplementation } from '../sessions/wire-forms.ts'

export interface InitializeOptions {
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
}

export function initialize ({ changingLists }: InitializeOptions): Method {
  return defineMethod({
    name: 'initialize',
    eras: ['legacy'],
    params: Type.Object({
      protocolVersion: Type.String(),
      capabilities: Type.Object({}),
      clientInfo: Type.Object({ name: Type.String(), version: Type.String() })
    }),
    open: ({ protocolVersion, capabilities: clientCapabilities, clientInfo }, {
      caller, snapshot
    }) => ({
      handle () {
        if (!(caller instanceof HandshakeCaller)) {
          throw invalidRequest('initialize begins a session: send it alone in a POST')
        }
        const revision = negotiate(protocolVersion)
        caller.onNegotiated({ revision, clientInfo, clientCapabilities })
        const { completions, ...capabilities } = toServerCapabilities(changingLists)
        const { server: { info, instructions } } = snapshot
        return JSON.stringify({
          protocolVersion: revision,
          capabilities: {
            ...capabilities,
            ...(hasCompletionsCapability(revision) && { completions }),
            ...toExtensions(snapshot, revision)
          },
          serverInfo: toLegacyImplementation(info, revision),
          instructions
        })
      }
    })
  })
}
