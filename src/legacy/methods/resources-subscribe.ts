// https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions

import { checkSubscribableUris } from '../../catalog/compiled/resources/uri.ts'
import { resourceNotFound } from '../../protocol/errors.ts'
import { defineMethod, type Method } from '../../request/pipeline/method.ts'
import { Type } from '../../schema/type.ts'
import { sessionOf } from '../sessions/session-caller.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'

export function resourcesSubscribe (settings: SessionSettings): Method {
  return defineMethod({
    name: 'resources/subscribe',
    eras: ['legacy'],
    params: Type.Object({ uri: Type.String() }),
    open ({ uri }, request) {
      checkSubscribableUris([uri])
      const found = request.view.resource(uri)
      if (found === undefined) throw resourceNotFound(uri)
      return {
        subject: found.resource.key,
        async handle () {
          await settings.update(sessionOf(request), (before) => {
            const uris = [...new Set(before.uris).add(found.uri)]
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
