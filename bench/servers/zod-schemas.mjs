// The schemas of the tools in Zod. The documentation of the SDK and of most peers uses Zod throughout.

import * as z from 'zod/v4'
import { DESCRIPTIONS, LANGUAGES, MAX_TEXT, SORT_ORDERS } from '../catalog/schemas.mjs'

const INPUTS = {
  search: ({ maxLimit }) => ({
    query: z.string().min(1).max(200),
    limit: z.number().int().min(1).max(maxLimit).optional(),
    offset: z.number().int().min(0).max(10_000).optional(),
    sort: z.enum(SORT_ORDERS).optional(),
    tags: z.array(z.string().max(40)).max(10).optional(),
    archived: z.boolean().optional(),
    context: z.string().max(MAX_TEXT).optional()
  }),
  statistics: () => ({
    numbers: z.array(z.number()).min(1).max(100),
    precision: z.number().int().min(0).max(6).optional()
  }),
  excerpt: () => ({
    text: z.string().max(MAX_TEXT),
    length: z.number().int().min(1).max(MAX_TEXT).optional(),
    language: z.enum(LANGUAGES).optional()
  })
}

const OUTPUTS = {
  search: () => z.object({
    hits: z.array(z.object({ id: z.string(), title: z.string(), score: z.number() })),
    total: z.number().int()
  }),
  statistics: () => z.object({
    count: z.number().int(),
    minimum: z.number(),
    maximum: z.number(),
    mean: z.number()
  })
}

export function toolInput (tool) {
  const shape = Object.entries(INPUTS[tool.kind](tool)).map(([name, schema]) => (
    [name, schema.describe(DESCRIPTIONS[name])]
  ))
  return z.object(Object.fromEntries(shape))
}

/** `undefined` if the tool answers with a text. */
export function toolOutput ({ kind }) {
  return OUTPUTS[kind]?.()
}

export function promptInput ({ argument }) {
  return z.object({ [argument.name]: z.string().describe(argument.description) })
}
