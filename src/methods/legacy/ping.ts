// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping

import { Type } from 'typebox'
import { defineMethod, type Method } from '../../dispatch/method.ts'
import { createParamsReader } from '../../schema/params.ts'

export const ping = (): Method => defineMethod({ name: 'ping', readParams: createParamsReader(Type.Object({})), handle: () => '{}' })
