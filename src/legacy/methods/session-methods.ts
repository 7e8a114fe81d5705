// The methods that exist only in the legacy era.

import { checkSubscribableUris, toUri } from '../../catalog/compiled/resources/uri.ts'
import { resourceNotFound } from '../../protocol/errors.ts'
import { LOG_LEVELS } from '../../protocol/log-levels.ts'
import { defineMethod, type Method } from '../../request/pipeline/method.ts'
import { Type } from '../../schema/type.ts'
import { sessionOf } from '../sessions/session-caller.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import { initialize, type InitializeOptions } from './initialize.ts'

interface LegacyMethodDependencies extends InitializeOptions {
  readonly settings: SessionSettings
}

export function createLegacyMethods (dependencies: LegacyMethodDependencies): Method[] {
  const { settings } = dependencies
  return [
    initialize(dependencies), ping, loggingSetLevel(settings), resourcesSubscribe(settings),
    resourcesUnsubscribe(settings)
  ]
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
          sessionOf(request), (before) => ({ ...before, uris: before.uris.filter((one) => one !== uri) })
        )
        return '{}'
      }
    })
  })
}
