// The request state: the answers so far and the results of `once`. It travels through the client, sealed,
// from one round of a request to the next.

import { hash } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
import { invalidParams } from '../../platform/protocol/errors.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Sealer } from '../../platform/store/sealing/sealer.ts'
import type { RequestState, RoundBinding } from './input-round.ts'

const PURPOSE = 'request state'
const INVALID =
  'requestState is not one that this request was given: it was changed, has expired or belongs to another ' +
    'request; send the request again without it and without inputResponses'

export function toStateBytes ({ answers, results, askedAt }: RequestState): Buffer {
  const time = askedAt === undefined ? '' : `,"askedAt":"${askedAt}"`
  return Buffer.from(`{"answers":${toObjectJson(answers)},"results":${toObjectJson(results)}${time}}`)
}

/** Writes an object whose members are JSON already. */
export function toObjectJson (members: ReadonlyMap<string, string>): string {
  return `{${Array.from(members, ([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`
}

export function sealState (sealer: Sealer, bound: string, bytes: Buffer, expiresAt: number): string {
  return sealer.seal(PURPOSE, bound, bytes, expiresAt)
}

/** Throws invalid params for any text that is not a state of this request. */
export function openState (sealer: Sealer, bound: string, requestState: string): RequestState {
  const bytes = sealer.open(PURPOSE, bound, requestState)
  const state: unknown = bytes === undefined ? undefined : JSON.parse(bytes.toString())
  // Another release may have sealed a state of another form.
  if (!isObject(state)) throw invalidParams(INVALID)
  const { answers, results, askedAt } = state
  if (!isObject(answers) || !isObject(results)) throw invalidParams(INVALID)
  return {
    answers: toJsonMap(answers),
    results: toJsonMap(results),
    askedAt: typeof askedAt === 'string' ? askedAt : undefined
  }
}

function toJsonMap (members: { readonly [key: string]: unknown }): Map<string, string> {
  return new Map(Object.entries(members).map(([key, value]) => [key, JSON.stringify(value)]))
}

/** Writes the binding as a text. Two texts are equal only for equal bindings. */
export function toBindingText ({ owner, method, name, args }: RoundBinding): string {
  return JSON.stringify([owner, method, name, hash('sha256', toCanonicalJson(args ?? {}), 'base64url')])
}

/** Writes JSON with the members of each object in sorted order. */
export function toCanonicalJson (value: unknown): string {
  try {
    return stringify(value) ?? 'null'
  } catch (error) {
    if (error instanceof RangeError) throw invalidParams('the arguments are nested too deeply')
    throw error
  }
}
