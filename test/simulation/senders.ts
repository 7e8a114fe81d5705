// Who sends requests, and the secrets of the replicas.

import { ANONYMOUS, type Principal } from '../../src/access/principal.ts'
import type { Sender } from './cluster.ts'

export const SECRETS = {
  old: ['the first secret of the simulation'],
  new: ['the second secret of the simulation'],
  both: ['the second secret of the simulation', 'the first secret of the simulation']
} as const

const toPrincipal = (subject: string): Principal => ({ subject, scopes: new Set(['work', 'more']) })
export const SENDERS: readonly Sender[] = [
  { principal: toPrincipal('ada') },
  { principal: toPrincipal('bob') },
  { principal: ANONYMOUS, address: '10.0.0.1' },
  { principal: ANONYMOUS, address: '10.0.0.2' }
]
