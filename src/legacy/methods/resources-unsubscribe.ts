// https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions

import { toUri } from '../../catalog/compiled/resources/uri.ts'
import { defineMethod, type Method } from '../../request/pipeline/method.ts'
import { Type } from '../../schema/type.ts'
import { sessionOf } from '../sessions/session-caller.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'

export function resourcesUnsubscribe (settings: SessionSettings): Method {
  return defineMethod({
    name: 'resources/unsubscribe',
    eras: ['legacy'],
    params: Type.Object({ uri: Type.String() }),
    open: ({ uri }, request) => ({
      async handle () {
        const removed = toUri(uri) ?? uri
        await settings.update(
          sessionOf(request),
          (before) => ({ ...before, uris: before.uris.filter((subscribed) => subscribed !== removed) })
        )
        return '{}'
      }
    })
  })
}
