// The tools, prompts and resources that all servers offer, defined once.

import { inputSchema, outputSchema } from './schemas.mjs'

export const SERVER = { name: 'bench', version: '1.0.0' }

/** Three of five tools search, one computes and one returns a text. */
const KINDS = ['search', 'search', 'search', 'statistics', 'excerpt']
const PURPOSES = {
  search: (index) => `Searches collection ${index} and returns the entries that match, with scores.`,
  statistics: (index) => `Computes count, minimum, maximum and mean of figures, by method ${index}.`,
  excerpt: (index) => `Returns the beginning of a text, by method ${index}, with its language and its length.`
}

/**
 * One search tool in six has its own schema. The others share one schema, as tools made from one template do.
 *
 * @param {number} count
 */
export function tools (count) {
  return Array.from({ length: count }, (_, index) => {
    const kind = KINDS[index % KINDS.length]
    const maxLimit = index % 10 === 2 ? 100 + index : 50
    const texts = { title: `Method ${index}: ${kind}`, description: PURPOSES[kind](index) }
    const tool = { name: toolName(index), kind, maxLimit, ...texts }
    return { ...tool, inputSchema: inputSchema(tool), outputSchema: outputSchema(tool) }
  })
}

function toolName (index) {
  return `tool_${String(index).padStart(4, '0')}`
}

export function prompts () {
  return Array.from({ length: 20 }, (_, index) => ({
    name: `prompt_${String(index).padStart(2, '0')}`,
    title: `Summary no. ${index}`,
    description: 'Asks for a short summary of a subject.',
    argument: { name: 'subject', description: 'What to summarise.' },
    text: (subject) => `Summarise what is known about ${subject} in ${index + 3} sentences, for a newcomer.`
  }))
}

const SENTENCE = 'A trivet stands on three legs, so it never wobbles. '
const FOREIGN_SENTENCE = '五徳には脚が三本あり、決してぐらつかない。'

/** Notes of 60 bytes to 4 KB. One in four is not ASCII. */
export function resources () {
  return Array.from({ length: 20 }, (_, index) => {
    const name = `note_${String(index).padStart(2, '0')}`
    const sentence = index % 4 === 3 ? FOREIGN_SENTENCE : SENTENCE
    return {
      name,
      uri: `bench://notes/${name}`,
      title: `Note ${index}`,
      mimeType: 'text/plain',
      text: `Note ${index}. ${sentence.repeat(1 + index * 4)}`
    }
  })
}
