// Questions and answers of the tests.

import { elicit, sample } from '../../../src/platform/author/input-request.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'

export const name = elicit.form({
  message: 'Your name?',
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
})
export const color = elicit.form({
  message: 'Your color?',
  schema: {
    type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] } }, required: ['color']
  }
})
export const page = elicit.url({ message: 'Pay here', url: 'https://example.com/pay' })
export const capital = sample({
  messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }], maxTokens: 100
})

export const alice = { action: 'accept', content: { name: 'Alice' } } as const
export const red = { action: 'accept', content: { color: 'red' } } as const
export const paris = {
  role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm', stopReason: 'endTurn'
} as const

export const askName = async (round: InputRound) => (await round.ask({ name })).name
