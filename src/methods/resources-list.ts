// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#listing-resources

import { defineListMethod } from '../dispatch/list-method.ts'
import type { Method } from '../dispatch/method.ts'

export const resourcesList = (): Method => defineListMethod('resources/list', (view) => view.resources)
