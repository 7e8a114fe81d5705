// https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions

import { Type } from 'typebox'
import { defineMethod, type Method } from '../../dispatch/method.ts'
import { sessionOf } from '../../legacy/session-request-context.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { createParamsReader } from '../../schema/params.ts'

export function resourcesUnsubscribe (settings: SessionSettings): Method {
  return defineMethod({
    name: 'resources/unsubscribe',
    readParams: createParamsReader(Type.Object({ uri: Type.String() })),
    async handle ({ uri }, request) {
      await settings.update(sessionOf(request), (before) => ({ ...before, uris: before.uris.filter((followed) => followed !== uri) }))
      return '{}'
    }
  })
}
