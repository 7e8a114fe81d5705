// A catalog that uses every member of each kind of definition and content.

export const FILES = {
  'server.yaml': 'name: rich\ntitle: Rich\nversion: 1.2.3\ndescription: Has it all.\nwebsiteUrl: ' +
    'https://rich.example\nicons:\n  - src: https://rich.example/icon.png\ninstructions: Read me.\n',
  'tools/all.ts': `
    import { defineTool, toolResult, ToolError } from 'trivet'
    const icons = [{ src: 'https://a.example/b.png' }]
    const common = { title: 'Title', description: 'A tool.', icons, _meta: { 'example.com/a': 1 } }
    const notes = { audience: ['user'], priority: 0.5, lastModified: '2025-01-01T00:00:00Z' }
    const meta = { 'example.com/b': 2 }
    const link = { uri: 'test:link', name: 'link', title: 'A link', description: 'Of some use.', icons }
    const resource = { uri: 'test:x', text: 'x', _meta: meta }
    const content = [
      { type: 'text', text: 'words', annotations: notes, _meta: meta },
      { type: 'image', data: 'AA==', mimeType: 'image/png', annotations: notes, _meta: meta },
      { type: 'audio', data: 'AA==', mimeType: 'audio/wav', annotations: notes, _meta: meta },
      { type: 'resource_link', ...link, annotations: notes, _meta: meta },
      { type: 'resource', resource, annotations: notes, _meta: meta },
      { type: 'text', text: 'only a time', annotations: { lastModified: notes.lastModified } }
    ]
    const define = (name, run, options = {}) => defineTool({ ...common, name, ...options, run })
    const integer = { type: 'integer' }
    const properties = { a: true, b: false, c: integer }
    const audio = [{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }]
    const inputSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { any: true, none: false, part: { type: 'object', properties: { any: true } } },
      allOf: [{ properties: { n: integer } }],
      additionalProperties: false
    }
    export default [
      define('contents', () => toolResult({ content, _meta: meta })),
      define('failing', () => { throw new ToolError('no', { content }) }),
      define('object', () => ({ c: 1 }), {
        annotations: { title: 'T', readOnlyHint: true },
        outputSchema: { type: 'object', properties, required: ['c'] }
      }),
      define('list', () => [1, 2], { outputSchema: { type: 'array', items: integer } }),
      define('number', () => 7, { outputSchema: integer }),
      define('either', () => null, { outputSchema: { anyOf: [{ type: 'object' }, { type: 'null' }] } }),
      define('bare', () => ({ c: 1 })),
      define('said', () => toolResult({ content: audio, structuredContent: { c: 1 } })),
      define('schema', () => 'ok', { inputSchema })
    ]`,
  'prompts/all.ts': `
    import { definePrompt } from 'trivet'
    const meta = { 'example.com/b': 2 }
    const icons = [{ src: 'https://a.example/b.png' }]
    const resource = { uri: 'test:x', blob: 'AA==', _meta: meta }
    const annotations = { lastModified: '2025-01-01T00:00:00Z' }
    const who = { name: 'who', title: 'Who', description: 'Whom.', required: true }
    export default definePrompt({
      name: 'ask', title: 'Title', description: 'A prompt.', icons, _meta: meta,
      arguments: [{ ...who, complete: ['ann', 'bob'] }],
      render: () => [
        { role: 'user', content: { type: 'audio', data: 'AA==', mimeType: 'audio/wav', _meta: meta } },
        { role: 'assistant', content: { type: 'resource_link', uri: 'test:link', name: 'link', icons } },
        { role: 'user', content: { type: 'resource', resource, annotations } }
      ]
    })`,
  'resources/all.resource.ts': `
    import { defineResource, defineResourceTemplate } from 'trivet'
    const _meta = { 'example.com/a': 1 }
    const icons = [{ src: 'https://a.example/b.png' }]
    const annotations = { audience: ['user'], lastModified: '2025-01-01T00:00:00Z' }
    const common = { title: 'Title', description: 'One.', mimeType: 'text/plain', icons, _meta, annotations }
    export const one = defineResource({
      ...common, uri: 'test:one', name: 'one', size: 3, read: () => ({ uri: 'test:one', text: 'one', _meta })
    })
    export const many = defineResourceTemplate({
      ...common, uriTemplate: 'test:many/{id}', name: 'many', complete: { id: ['a', 'b'] },
      list: () => [{ ...common, uri: 'test:many/a', name: 'a' }],
      read: ({ id }) => id
    })`,
  'resources/notes.txt': 'notes'
}
