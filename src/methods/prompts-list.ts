// https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#listing-prompts

import { defineListMethod } from '../dispatch/list-method.ts'
import type { Method } from '../dispatch/method.ts'

export const promptsList = (): Method => defineListMethod('prompts/list', (view) => view.prompts)
