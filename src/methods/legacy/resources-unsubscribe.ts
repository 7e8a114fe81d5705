// https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions

import { toUri } from '../../catalog/uri.ts'
import { defineMethod, type Method } from '../../dispatch/method.ts'
import { sessionOf } from '../../legacy/session-caller.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { Type } from '../../schema/type.ts'

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
