// https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions

import { Type } from 'typebox'
import { defineMethod, type Method } from '../../dispatch/method.ts'
import { sessionOf } from '../../legacy/session-caller.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { invalidParams, resourceNotFound } from '../../protocol/errors.ts'

/** How many resources a session may subscribe to. */
const MAX_SESSION_RESOURCES = 1000
/** How long their URIs may be together, in characters: the store keeps them for each session. */
const MAX_SESSION_URI_LENGTH = 262_144

const tooManyResources = () => invalidParams(
  `a session may subscribe to at most ${MAX_SESSION_RESOURCES} resources, whose URIs have at most ` +
    `${MAX_SESSION_URI_LENGTH} characters together; unsubscribe from some first`
)

function areTooMany (uris: ReadonlySet<string>): boolean {
  const length = [...uris].reduce((sum, uri) => sum + uri.length, 0)
  return uris.size > MAX_SESSION_RESOURCES || length > MAX_SESSION_URI_LENGTH
}

export function resourcesSubscribe (settings: SessionSettings): Method {
  return defineMethod({
    name: 'resources/subscribe',
    eras: ['legacy'],
    params: Type.Object({ uri: Type.String() }),
    open ({ uri }, request) {
      const found = request.view.resource(uri)
      if (found === undefined) throw resourceNotFound(uri)
      return {
        subject: found.resource.key,
        async handle () {
          await settings.update(sessionOf(request), (before) => {
            const uris = new Set(before.uris).add(uri)
            if (areTooMany(uris)) throw tooManyResources()
            return { ...before, uris: [...uris] }
          })
          return '{}'
        }
      }
    }
  })
}
