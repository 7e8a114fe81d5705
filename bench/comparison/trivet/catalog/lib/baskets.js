import { defineHandle } from 'trivet'

const items = { type: 'array', items: { type: 'object' } }

export const baskets = defineHandle({
  kind: 'basket',
  prefix: 'bsk',
  schema: { type: 'object', properties: { items }, required: ['items'] },
  idleTtlMs: 86_400_000,
  createdBy: 'add_to_basket'
})
