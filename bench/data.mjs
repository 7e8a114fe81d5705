// What all peers serve: the same tools, prompts and resources, described once.

export const SERVER = { name: 'bench', version: '1.0.0' }

export const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    hits: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'string' }, title: { type: 'string' }, score: { type: 'number' } },
        required: ['id', 'title', 'score']
      }
    },
    total: { type: 'integer' }
  },
  required: ['hits', 'total']
}

/**
 * One tool in five has a schema of its own; the others share theirs, as tools made after one pattern do.
 *
 * @param {number} count
 */
export function tools (count) {
  return Array.from({ length: count }, (_, index) => {
    const maxLimit = index % 5 === 4 ? 100 + index : 50
    return {
      name: toolName(index),
      title: `Search collection ${index}`,
      description: `Searches collection ${index} and returns the entries that match, with a score for each and the total.`,
      maxLimit,
      inputSchema: inputSchema(maxLimit),
      outputSchema: OUTPUT_SCHEMA
    }
  })
}

export function toolName (index) {
  return `tool_${String(index).padStart(4, '0')}`
}

/** What the properties mean, for the peers that write their schemas in another library. */
export const DESCRIPTIONS = {
  query: 'Words to look for.',
  limit: 'How many entries to return.',
  offset: 'How many entries to skip.',
  sort: 'Which entries come first.',
  tags: 'Only entries that carry all of these tags.',
  archived: 'Whether to look through the archive too.'
}

export const SORT_ORDERS = ['relevance', 'newest', 'oldest']

function inputSchema (maxLimit) {
  return {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 200, description: DESCRIPTIONS.query },
      limit: { type: 'integer', minimum: 1, maximum: maxLimit, description: DESCRIPTIONS.limit },
      offset: { type: 'integer', minimum: 0, maximum: 10_000, description: DESCRIPTIONS.offset },
      sort: { type: 'string', enum: SORT_ORDERS, description: DESCRIPTIONS.sort },
      tags: { type: 'array', items: { type: 'string', maxLength: 40 }, maxItems: 10, description: DESCRIPTIONS.tags },
      archived: { type: 'boolean', description: DESCRIPTIONS.archived }
    },
    required: ['query']
  }
}

export function prompts () {
  return Array.from({ length: 20 }, (_, index) => ({
    name: `prompt_${String(index).padStart(2, '0')}`,
    title: `Summary no. ${index}`,
    description: 'Asks for a short summary of a subject.',
    argument: { name: 'subject', description: 'What to summarise.' },
    text: (subject) => `Summarise what is known about ${subject} in ${index + 3} sentences, for a reader who is new to it.`
  }))
}

export function resources () {
  return Array.from({ length: 20 }, (_, index) => {
    const name = `note_${String(index).padStart(2, '0')}`
    return {
      name,
      uri: `bench://notes/${name}`,
      title: `Note ${index}`,
      mimeType: 'text/plain',
      text: `Note ${index}. ${'A trivet stands on three legs, so it never wobbles. '.repeat(8)}`
    }
  })
}
