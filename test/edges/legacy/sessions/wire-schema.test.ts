// The check of sent messages that the other tests use: which messages it accepts, by revision.

import t from 'tap'
import { problemsOf, REVISIONS } from '../../../helpers/wire-schema.ts'

const result = (result: object) => ({ jsonrpc: '2.0', id: 1, result })
const said = (method: string, params: object) => ({ jsonrpc: '2.0', method, params })
const asked = (method: string, params: object) => ({ jsonrpc: '2.0', id: 'a', method, params })
const text = { type: 'text', text: 'a' }
const form = (properties: object, mode: object = {}) => asked('elicitation/create', {
  message: 'm', requestedSchema: { type: 'object', properties }, ...mode
})
const tool = { name: 'a', inputSchema: { type: 'object' } }

/** Messages that are valid only from one revision on, or only up to one. */
const cases: ReadonlyArray<readonly [
  claim: string, message: object, method: string | undefined, revisions: readonly string[]
]> = [
  ['a call\'s result', result({ content: [text] }), 'tools/call', REVISIONS.slice(0, 4)],
  [
    'a call\'s result of today', result({ resultType: 'complete', content: [text] }), 'tools/call',
    REVISIONS.slice(4)
  ],
  ['a result of another method', result({ tools: [] }), 'tools/call', []],
  [
    'audio', result({ content: [{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }] }), 'tools/call',
    REVISIONS.slice(1, 4)
  ],
  [
    'a link', result({ content: [{ type: 'resource_link', uri: 'a:b', name: 'b' }] }), 'tools/call',
    REVISIONS.slice(2, 4)
  ],
  ['structured content', result({ content: [], structuredContent: {} }), 'tools/call', REVISIONS.slice(2, 4)],
  ['structured content that is no object', result({ content: [], structuredContent: [] }), 'tools/call', []],
  ['a block with _meta', result({ content: [{ ...text, _meta: {} }] }), 'tools/call', REVISIONS.slice(2, 4)],
  [
    'a result with its server',
    result({
      tools: [tool],
      cacheScope: 'public',
      ttlMs: 0,
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'a', version: '1' } }
    }),
    'tools/list', REVISIONS.slice(4)
  ],
  ['a tool with a title', result({ tools: [{ ...tool, title: 'A' }] }), 'tools/list', REVISIONS.slice(2, 4)],
  [
    'a tool with hints', result({ tools: [{ ...tool, annotations: { readOnlyHint: true } }] }), 'tools/list',
    REVISIONS.slice(1, 4)
  ],
  [
    'a tool with icons', result({ tools: [{ ...tool, icons: [{ src: 'https://a.example/b.png' }] }] }),
    'tools/list', REVISIONS.slice(3, 4)
  ],
  [
    'a tool whose schema says more',
    result({
      tools: [{ ...tool, inputSchema: { type: 'object', oneOf: [{}], additionalProperties: false } }]
    }),
    'tools/list', REVISIONS.slice(0, 4)
  ],
  ['a result that may be kept', result({ tools: [tool], ttlMs: 1 }), 'tools/list', []],
  ['an empty result', result({}), 'ping', REVISIONS.slice(0, 4)],
  ['a result to what the revision does not have', result({}), 'server/discover', []],
  [
    'capabilities with completions',
    result({
      protocolVersion: '2025-03-26',
      serverInfo: { name: 'a', version: '1' },
      capabilities: { completions: {} }
    }),
    'initialize', REVISIONS.slice(1, 4)
  ],
  [
    'capabilities with extensions',
    result({
      protocolVersion: '2025-03-26', serverInfo: { name: 'a', version: '1' }, capabilities: { extensions: {} }
    }),
    'initialize', []
  ],
  ['progress', said('notifications/progress', { progressToken: 1, progress: 1 }), undefined, REVISIONS],
  [
    'progress with words', said('notifications/progress', { progressToken: 1, progress: 1, message: 'a' }),
    undefined, REVISIONS.slice(1)
  ],
  ['what only a client says', said('notifications/initialized', {}), undefined, []],
  ['what nobody says', said('notifications/nothing', {}), undefined, []],
  ['a change of a resource', said('notifications/resources/updated', { uri: 'a:b' }), undefined, REVISIONS],
  [
    'an acknowledged subscription',
    said('notifications/subscriptions/acknowledged', {
      notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': 1 }
    }),
    undefined, REVISIONS.slice(4)
  ],
  ['a form', form({ a: { type: 'string' } }), undefined, REVISIONS.slice(2, 4)],
  [
    'a form that says that it is one', form({ a: { type: 'string' } }, { mode: 'form' }), undefined,
    REVISIONS.slice(3, 4)
  ],
  ['a form with a default', form({ a: { type: 'string', default: 'b' } }), undefined, REVISIONS.slice(3, 4)],
  [
    'a form with many choices', form({ a: { type: 'array', items: { type: 'string', enum: ['b'] } } }),
    undefined, REVISIONS.slice(3, 4)
  ],
  ['a question for roots', asked('roots/list', {}), undefined, REVISIONS.slice(0, 4)],
  ['what only a client asks', asked('tools/list', {}), undefined, []],
  ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'a' } }, undefined, REVISIONS],
  ['an error without an id', { jsonrpc: '2.0', error: { code: 1, message: 'a' } }, undefined, REVISIONS],
  ['an error with no id', { jsonrpc: '2.0', id: null, error: { code: 1, message: 'a' } }, undefined, []],
  ['an error without words', { jsonrpc: '2.0', id: 1, error: { code: 1 } }, undefined, []],
  [
    'an unsupported revision, which is not named',
    { jsonrpc: '2.0', id: 1, error: { code: -32022, message: 'a' } }, undefined, REVISIONS.slice(0, 4)
  ],
  ['a message without its version', { id: 1, result: {} }, 'ping', []],
  ['an array', [], undefined, []]
]

t.test(
  'knows every revision',
  async (t) => t.strictSame(REVISIONS, ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
)

for (const [claim, message, method, expected] of cases) {
  t.test(`lets ${claim} pass in ${expected.length === 0 ? 'no revision' : expected.join(', ')}`, async (
    t
  ) => {
    t.strictSame(
      REVISIONS.filter((revision) => problemsOf(message, revision, method).length === 0), expected,
      JSON.stringify(problemsOf(message, expected[0] ?? '2025-11-25', method))
    )
  })
}
