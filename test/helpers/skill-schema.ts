// The JSON of skills, as the extension io.modelcontextprotocol/skills has it.
// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx

import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Message } from './request.ts'

const text = { type: 'string', minLength: 1 }
const closed = (properties: object, optional: readonly string[] = []) => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
  additionalProperties: false
})
const common = { resultType: { const: 'complete' }, _meta: { type: 'object' } }
const count = { type: 'integer', minimum: 0 }
const cacheable = { ...common, ttlMs: count, cacheScope: { enum: ['public', 'private'] } }
const skill = closed({
  uri: { type: 'string', pattern: '^skill://.+/SKILL\\.md$' },
  frontmatter: {
    type: 'object', required: ['name', 'description'], properties: { name: text, description: text }
  },
  resources: {
    type: 'array',
    minItems: 1,
    maxItems: 512,
    items: closed({
      uri: text,
      digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
      size: count
    })
  }
})
const entry = closed({
  uri: text, name: text, description: text, mimeType: text, size: count
}, ['description', 'size'])
const page = { nextCursor: text }

const RESULTS: { readonly [method: string]: object } = {
  'skills/list': closed({ ...page, skills: { type: 'array', items: skill }, ...cacheable }, ['nextCursor']),
  'skills/get': closed({ skill, ...cacheable }),
  'resources/directory/read': closed(
    { ...page, resources: { type: 'array', items: entry }, ...common }, ['nextCursor']
  )
}

const ajv = new Ajv2020({ strict: false, allErrors: true })

/** The problems of a result of the extension. `undefined` for a result of the protocol. */
export function skillResultProblems (method: string | undefined, result: Message): string[] | undefined {
  const schema = RESULTS[method ?? '']
  if (schema === undefined) return undefined
  return ajv.validate(schema, result) ? [] : [`not a result of ${method}: ${ajv.errorsText()}`]
}
