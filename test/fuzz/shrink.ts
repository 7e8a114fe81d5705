// Looks for the smallest request that shows a failure.

import type { Draft } from './drafts.ts'
import { withValue } from './mutations.ts'
import type { Json } from './random.ts'

/** The most requests that one search may send. */
const MAX_TRIES = 300

/** @param fails whether the request still shows the failure. */
export async function shrink (draft: Draft, fails: (draft: Draft) => Promise<boolean>): Promise<Draft> {
  let smallest = draft
  let tries = 0
  for (let hasShrunk = true; hasShrunk && tries < MAX_TRIES;) {
    hasShrunk = false
    for (const candidate of smallerOf(smallest)) {
      if (++tries > MAX_TRIES) break
      if (!await fails(candidate)) continue
      smallest = candidate
      hasShrunk = true
      break
    }
  }
  return smallest
}

function * smallerOf (draft: Draft): Generator<Draft> {
  const { headers, body, raw } = draft
  for (let at = 0; at < headers.length; at++) {
    yield { ...draft, headers: headers.filter((_, index) => index !== at) }
  }
  if (raw !== undefined) for (const text of shorter(raw)) yield { ...draft, raw: text }
  if (typeof body !== 'string') return
  let value: Json
  try {
    value = JSON.parse(body)
  } catch {
    for (const text of shorter(body)) yield { ...draft, body: text }
    return
  }
  for (const smaller of smallerValues(value)) yield { ...draft, body: JSON.stringify(smaller) }
}

function * shorter (text: string): Generator<string> {
  for (let length = text.length >> 1; length > 0; length >>= 1) {
    for (let at = 0; at < text.length; at += length) yield text.slice(0, at) + text.slice(at + length)
  }
}

function * smallerValues (value: Json): Generator<Json> {
  if (typeof value === 'string' && value.length > 20) {
    yield value.slice(0, value.length >> 1)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    yield withValue(value, [key], undefined)
    for (const smaller of smallerValues(member)) yield withValue(value, [key], smaller)
  }
}
