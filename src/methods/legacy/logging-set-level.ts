// https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level

import { Type } from 'typebox'
import { defineMethod, type Method } from '../../dispatch/method.ts'
import { sessionOf } from '../../legacy/session-request-context.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { LOG_LEVELS } from '../../protocol/log-levels.ts'
import { createParamsReader } from '../../schema/params.ts'

export function loggingSetLevel (settings: SessionSettings): Method {
  return defineMethod({
    name: 'logging/setLevel',
    readParams: createParamsReader(Type.Object({ level: Type.Enum([...LOG_LEVELS]) })),
    async handle ({ level }, request) {
      await settings.update(sessionOf(request), (before) => ({ ...before, logLevel: level }))
      return '{}'
    }
  })
}
