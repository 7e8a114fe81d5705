// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping

import { defineMethod } from '../../request/pipeline/method.ts'
import { Type } from '../../schema/type.ts'

export const ping = defineMethod({
  name: 'ping', eras: ['legacy'], params: Type.Object({}), open: () => ({ handle: () => '{}' })
})
