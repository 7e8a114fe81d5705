// The schemas of data.mjs in Zod, which the SDK's documentation uses throughout.

import * as z from 'zod/v4'
import { DESCRIPTIONS, SORT_ORDERS } from '../data.mjs'

export const toolInput = ({ maxLimit }) => z.object({
  query: z.string().min(1).max(200).describe(DESCRIPTIONS.query),
  limit: z.number().int().min(1).max(maxLimit).optional().describe(DESCRIPTIONS.limit),
  offset: z.number().int().min(0).max(10_000).optional().describe(DESCRIPTIONS.offset),
  sort: z.enum(SORT_ORDERS).optional().describe(DESCRIPTIONS.sort),
  tags: z.array(z.string().max(40)).max(10).optional().describe(DESCRIPTIONS.tags),
  archived: z.boolean().optional().describe(DESCRIPTIONS.archived)
})

export const toolOutput = () => z.object({
  hits: z.array(z.object({ id: z.string(), title: z.string(), score: z.number() })),
  total: z.number().int()
})

export const promptInput = ({ argument }) => z.object({ [argument.name]: z.string().describe(argument.description) })
