// The methods that exist only in the legacy era.

import { checkSubscribableUris, toUri } from '../../../catalog/compiled/resources/uri.ts'
import { toExtensions } from '../../../catalog/compiled/snapshot.ts'
import { toServerCapabilities } from '../../../platform/protocol/capabilities.ts'
import { invalidRequest, resourceNotFound } from '../../../platform/protocol/errors.ts'
import { LOG_LEVELS } from '../../../platform/protocol/log-levels.ts'
import type { ListName } from '../../../platform/protocol/notifications.ts'
import { hasCompletionsCapability, negotiate } from '../../../platform/protocol/revisions.ts'
import { defineMethod, type Method } from '../../../request/pipeline/method.ts'
import { Type } from '../../../platform/schema/type.ts'
import { HandshakeCaller, sessionOf } from '../sessions/session-caller.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import { toLegacyImplementation } from '../sessions/wire-forms.ts'

interface LegacyMethodDependencies {
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
  readonly settings: SessionSettings
}

export function createLegacyMethods (dependencies: LegacyMethodDependencies): Method[] {
  const { settings } = dependencies
  return [
    initialize(dependencies), ping, loggingSetLevel(settings), resourcesSubscribe(settings),
    resourcesUnsubscribe(settings)
  ]
}

/** https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization */
function initialize ({ changingLists }: LegacyMethodDependencies): Method {
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

/** https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping */
const ping = defineMethod({
  name: 'ping', eras: ['legacy'], params: Type.Object({}), open: () => ({ handle: () => '{}' })
})

/** https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level */
function loggingSetLevel (settings: SessionSettings): Method {
  return defineMethod({
    name: 'logging/setLevel',
    eras: ['legacy'],
    params: Type.Object({ level: Type.Enum([...LOG_LEVELS]) }),
    open: ({ level }, request) => ({
      async handle () {
        await settings.update(sessionOf(request), (before) => ({ ...before, logLevel: level }))
        return '{}'
      }
    })
  })
}

/** https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions */
function resourcesSubscribe (settings: SessionSettings): Method {
  return defineMethod({
    name: 'resources/subscribe',
    eras: ['legacy'],
    params: Type.Object({ uri: Type.String() }),
    open ({ uri }, request) {
      checkSubscribableUris([uri])
      const match = request.view.resource(uri)
      if (match === undefined) throw resourceNotFound(uri)
      return {
        subject: match.resource.key,
        async handle () {
          await settings.update(sessionOf(request), (before) => {
            const uris = [...new Set(before.uris).add(match.uri)]
            // The whole list is stored and sent to the other replicas with each change.
            checkSubscribableUris(uris)
            return { ...before, uris }
          })
          return '{}'
        }
      }
    }
  })
}

/** https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions */
function resourcesUnsubscribe (settings: SessionSettings): Method {
  return defineMethod({
    name: 'resources/unsubscribe',
    eras: ['legacy'],
    params: Type.Object({ uri: Type.String() }),
    open: ({ uri: text }, request) => ({
      async handle () {
        const uri = toUri(text) ?? text
        await settings.update(
          sessionOf(request), (before) => ({ ...before, uris: before.uris.filter((item) => item !== uri) })
        )
        return '{}'
      }
    })
  })
}
