// The schema of an InputRequiredResult of 2026-07-28. It is closed: it refuses members that the specification
// does not have.

import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'

const string = { type: 'string' }
const strings = { type: 'array', items: string }
const number = { type: 'number' }
const integer = { type: 'integer' }
const object = { type: 'object' }

type Properties = { readonly [name: string]: object }
const closed = (required: readonly string[], properties: Properties) => ({
  type: 'object', required, properties, additionalProperties: false
})
const field = (required: readonly string[], properties: Properties) => closed(['type', ...required], {
  title: string, description: string, ...properties
})

const option = closed(['const', 'title'], { const: string, title: string })
const primitive = {
  anyOf: [
    field([], {
      type: { const: 'string' },
      default: string,
      minLength: integer,
      maxLength: integer,
      format: { enum: ['date', 'date-time', 'email', 'uri'] }
    }),
    field([], { type: { enum: ['integer', 'number'] }, default: number, minimum: number, maximum: number }),
    field([], { type: { const: 'boolean' }, default: { type: 'boolean' } }),
    field(['enum'], { type: { const: 'string' }, default: string, enum: strings }),
    field(['oneOf'], { type: { const: 'string' }, default: string, oneOf: { type: 'array', items: option } }),
    field(['items'], {
      type: { const: 'array' },
      default: strings,
      minItems: integer,
      maxItems: integer,
      items: closed(['type', 'enum'], { type: { const: 'string' }, enum: strings })
    }),
    field(['items'], {
      type: { const: 'array' },
      default: strings,
      minItems: integer,
      maxItems: integer,
      items: closed(['anyOf'], { anyOf: { type: 'array', items: option } })
    }),
    field(['enum'], { type: { const: 'string' }, default: string, enum: strings, enumNames: strings })
  ]
}

const formParams = closed(['message', 'requestedSchema'], {
  mode: { const: 'form' },
  message: string,
  requestedSchema: closed(['type', 'properties'], {
    $schema: string,
    type: { const: 'object' },
    properties: { type: 'object', additionalProperties: primitive },
    required: strings
  })
})
const urlParams = closed(['mode', 'message', 'url'], {
  mode: { const: 'url' }, message: string, url: { type: 'string', format: 'uri' }
})
const sampleParams = closed(['messages', 'maxTokens'], {
  messages: {
    type: 'array',
    items: closed(['role', 'content'], {
      role: { enum: ['user', 'assistant'] }, content: { type: ['object', 'array'] }, _meta: object
    })
  },
  maxTokens: integer,
  systemPrompt: string,
  temperature: number,
  stopSequences: strings,
  modelPreferences: object,
  includeContext: { enum: ['none', 'thisServer', 'allServers'] },
  tools: { type: 'array', items: object },
  toolChoice: closed([], { mode: { enum: ['auto', 'none', 'required'] } }),
  metadata: object
})

const request = (method: string, params: object) => closed(['method', 'params'], {
  method: { const: method }, params
})

const inputRequired = closed(['inputRequests'], {
  inputRequests: {
    type: 'object',
    minProperties: 1,
    additionalProperties: {
      anyOf: [
        request('elicitation/create', { anyOf: [formParams, urlParams] }),
        request('sampling/createMessage', sampleParams),
        request('roots/list', { type: 'object', maxProperties: 0 })
      ]
    }
  },
  requestState: { type: 'string', pattern: '^[A-Za-z0-9_.-]+$' }
})

/** Checks the members of an InputRequiredResult except `resultType`. */
export const checkInputRequired = createSchemaCompiler({ useDefaults: false }).compile(inputRequired)
