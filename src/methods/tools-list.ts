// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools

import { defineListMethod } from '../dispatch/list-method.ts'
import type { Method } from '../dispatch/method.ts'

export const toolsList = (): Method => defineListMethod('tools/list', (view) => view.tools)
