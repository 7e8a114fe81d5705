// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping

import { Type } from 'typebox'
import { defineMethod } from '../../dispatch/method.ts'

export const ping = defineMethod({
  name: 'ping', eras: ['legacy'], params: Type.Object({}), open: () => ({ handle: () => '{}' })
})
