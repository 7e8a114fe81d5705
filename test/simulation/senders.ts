// Who sends requests, and the secrets of the replicas.

import { ANONYMOUS, type Principal } from '../../src/platform/access/principal.ts'
import type { Sender } from './cluster.ts'
import type { RIGHTS } from './plan.ts'

export const SECRETS = {
  old: ['the first secret of the simulation'],
  new: ['the second secret of the simulation'],
  both: ['the second secret of the simulation', 'the first secret of the simulation']
} as const

const toPrincipal = (subject: string): Principal => ({ subject, scopes: new Set(['work', 'more']) })
const SENDERS: readonly Sender[] = [
  { principal: toPrincipal('ada') },
  { principal: toPrincipal('bob') },
  { principal: ANONYMOUS, address: '10.0.0.1' },
  { principal: ANONYMOUS, address: '10.0.0.2' }
]

export const SENDER_COUNT = SENDERS.length

export function senderOf (index: number): Sender {
  const sender = SENDERS[index % SENDERS.length]
  if (sender === undefined) throw new RangeError('no senders')
  return sender
}

const SCOPES: { readonly [right: string]: readonly string[] } = { less: ['work'], none: [] }

export function withRight (sender: Sender, right: typeof RIGHTS[number]): Sender {
  const { principal, principal: { subject } } = sender
  if (right === 'full') return sender
  const other: Principal = { ...principal, subject: 'mallory' }
  if (right === 'stranger') return { principal: other }
  return subject === undefined ? sender : { principal: { subject, scopes: new Set(SCOPES[right]) } }
}
