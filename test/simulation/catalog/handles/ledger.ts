import { defineHandle } from 'trivet'

export const ledgers = defineHandle({
  kind: 'ledger',
  prefix: 'led',
  idleTtlMs: 86_400_000,
  schema: { type: 'array', items: { type: 'string' } }
})
