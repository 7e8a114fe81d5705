// The schemas of the tools, by kind. Tools of one kind share a schema. Only the largest limit of search tools
// may differ.

/** Descriptions of the properties, also for servers that write their schemas with another library. */
export const DESCRIPTIONS = {
  query: 'Words to look for.',
  limit: 'How many entries to return.',
  offset: 'How many entries to skip.',
  sort: 'Which entries come first.',
  tags: 'Only entries that carry all of these tags.',
  archived: 'Whether to look through the archive too.',
  context: 'The conversation so far, to rank by.',
  numbers: 'The figures.',
  precision: 'Decimal places of the mean.',
  text: 'The text.',
  length: 'How many characters to return.',
  language: 'The language of the text.'
}

export const SORT_ORDERS = ['relevance', 'newest', 'oldest']
export const LANGUAGES = ['en', 'de', 'ja']
/** The length of the longest text that a tool accepts, in characters. */
export const MAX_TEXT = 8000

const INPUTS = {
  search: (maxLimit) => object({
    query: { type: 'string', minLength: 1, maxLength: 200 },
    limit: { type: 'integer', minimum: 1, maximum: maxLimit },
    offset: { type: 'integer', minimum: 0, maximum: 10_000 },
    sort: { type: 'string', enum: SORT_ORDERS },
    tags: { type: 'array', items: { type: 'string', maxLength: 40 }, maxItems: 10 },
    archived: { type: 'boolean' },
    context: { type: 'string', maxLength: MAX_TEXT }
  }, ['query']),
  statistics: () => object({
    numbers: { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: 100 },
    precision: { type: 'integer', minimum: 0, maximum: 6 }
  }, ['numbers']),
  excerpt: () => object({
    text: { type: 'string', maxLength: MAX_TEXT },
    length: { type: 'integer', minimum: 1, maximum: MAX_TEXT },
    language: { type: 'string', enum: LANGUAGES }
  }, ['text'])
}

const OUTPUTS = {
  search: {
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
  },
  statistics: {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      minimum: { type: 'number' },
      maximum: { type: 'number' },
      mean: { type: 'number' }
    },
    required: ['count', 'minimum', 'maximum', 'mean']
  }
}

/** @param {{ kind: string, maxLimit: number }} tool */
export function inputSchema ({ kind, maxLimit }) {
  return INPUTS[kind](maxLimit)
}

/** `undefined` if the tool answers with a text. */
export function outputSchema ({ kind }) {
  return OUTPUTS[kind]
}

function object (properties, required) {
  const described = Object.entries(properties).map(([name, schema]) => (
    [name, { ...schema, description: DESCRIPTIONS[name] }]
  ))
  return { type: 'object', properties: Object.fromEntries(described), required }
}
