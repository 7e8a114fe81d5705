// https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level

import { LOG_LEVELS } from '../../protocol/log-levels.ts'
import { defineMethod, type Method } from '../../request/pipeline/method.ts'
import { Type } from '../../schema/type.ts'
import { sessionOf } from '../sessions/session-caller.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'

export function loggingSetLevel (settings: SessionSettings): Method {
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
