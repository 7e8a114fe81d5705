// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates

import { defineListMethod } from '../dispatch/list-method.ts'
import type { Method } from '../dispatch/method.ts'

export const resourcesTemplatesList = (): Method => defineListMethod('resources/templates/list', (view) => view.templates)
