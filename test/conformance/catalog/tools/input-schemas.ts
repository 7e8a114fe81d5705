// Tools for tests of input schemas.

import { defineTool } from 'trivet'

export const jsonSchema202012 = defineTool({
  name: 'json_schema_2020_12_tool',
  description: 'Lists an input schema that uses what is particular to JSON Schema 2020-12.',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } }
      }
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' }
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false
  },
  run: (args) => `Accepted ${JSON.stringify(args)}`
})

export const header = defineTool({
  name: 'test_header_tool',
  description: 'Takes an argument that clients mirror in the header Mcp-Param-Region.',
  inputSchema: {
    type: 'object',
    properties: { region: { type: 'string', description: 'Any text.', 'x-mcp-header': 'Region' } },
    required: ['region']
  },
  run: ({ region }) => `Region: ${region}`
})
