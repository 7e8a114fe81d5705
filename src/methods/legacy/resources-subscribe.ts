// https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions

import { defineMethod, type Method } from '../../dispatch/method.ts'
import { checkSubscribableUris } from '../../catalog/subscribable-uris.ts'
import { sessionOf } from '../../legacy/session-caller.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { resourceNotFound } from '../../protocol/errors.ts'
import { Type } from '../../schema/type.ts'

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
