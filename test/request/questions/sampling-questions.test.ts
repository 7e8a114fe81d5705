import t from 'tap'
import {
  sample, type InputRequest, type SampleOptions, type SamplingMessage
} from '../../../src/platform/author/input-request.ts'
import { paramsOf, problemOf } from './asking.ts'

const text = (role: 'user' | 'assistant', words = 'Hello') => ({
  role, content: { type: 'text', text: words }
})
const use = (...ids: string[]): SamplingMessage => ({
  role: 'assistant',
  content: [
    { type: 'text', text: 'So' }, ...ids.map((id) => ({ type: 'tool_use', id, name: 'add', input: {} }))
  ]
})
const result = (...ids: string[]): SamplingMessage => ({
  role: 'user',
  content: ids.map(
    (toolUseId) => ({ type: 'tool_result', toolUseId, content: [{ type: 'text', text: '3' }] })
  )
})
const talk = (...messages: SamplingMessage[]) => sample({ messages, maxTokens: 10 })

t.test('a sampling request is sent unchanged (232)', async (t) => {
  const full: SampleOptions = {
    messages: [text('user'), text('assistant'), use('1', '2'), result('2', '1'), text('user')],
    maxTokens: 100,
    systemPrompt: 'Be brief.',
    temperature: 0.2,
    stopSequences: ['END'],
    modelPreferences: {
      hints: [{ name: 'claude' }], costPriority: 0, speedPriority: 1, intelligencePriority: 0.5
    },
    includeContext: 'thisServer',
    tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }],
    toolChoice: { mode: 'required' },
    metadata: { any: [1] }
  }
  t.same(await paramsOf(sample(full)), full)
  t.same(await paramsOf(talk(text('user'))), { messages: [text('user')], maxTokens: 10 })
  const image: SamplingMessage = {
    role: 'user', content: { type: 'image', data: 'AA==', mimeType: 'image/png' }
  }
  t.same(await paramsOf(sample({ ...full, messages: [image] })), { ...full, messages: [image] })
})

const BAD_SAMPLES: ReadonlyArray<readonly [claim: string, request: InputRequest, problem: RegExp]> = [
  // @ts-expect-error: authors may write without types
  ['maxTokens', sample({ messages: [text('user')] }), /^ask, "k": maxTokens: is required/],
  ['a positive maxTokens', sample({ messages: [text('user')], maxTokens: 0 }), /maxTokens/],
  ['a whole maxTokens', sample({ messages: [text('user')], maxTokens: 1.5 }), /maxTokens: must be integer/],
  ['messages', talk(), /messages/],
  [
    // @ts-expect-error: authors may write without types
    'a role for each message', talk({ role: 'system', content: { type: 'text', text: 'x' } }),
    /messages\[0\]\.role: must be one of/
  ],
  ['content of a known type', talk({ role: 'user', content: 'x' }), /messages\[0\]\.content/],
  [
    // @ts-expect-error: authors may write without types
    'only what the specification knows', sample({ messages: [text('user')], maxTokens: 1, model: 'x' }),
    /model: is not known here/
  ],
  [
    'finite numbers', sample({ messages: [text('user')], maxTokens: 1, temperature: Infinity }), /temperature/
  ],
  [
    'JSON', sample({ messages: [text('user')], maxTokens: 1, metadata: { at: new Date() } }),
    /must be JSON, but it\.metadata\.at is an instance of Date/
  ],
  [
    'a tool choice of the specification',
    sample({ messages: [text('user')], maxTokens: 1, toolChoice: { mode: 'all' } }), /toolChoice\.mode/
  ],
  [
    'the results of the tools it used', talk(use('1'), text('user')),
    /messages\[1\]: must hold the results of the tool uses before it, "1", got none/
  ],
  [
    'all results of the tools it used', talk(use('1', '2'), result('1')),
    /messages\[1\]: must hold the results of the tool uses before it, "1", "2", got "1"/
  ],
  ['only results of tools it used', talk(use('1'), result('1', '2')), /messages\[1\]: must hold/],
  ['each result once', talk(use('1', '2'), result('1', '1')), /messages\[1\]: must hold/],
  [
    'results that follow a use', talk(text('user'), result('1')),
    /messages\[1\]: must hold the results of the tool uses before it, none, got "1"/
  ],
  ['results that follow at once', talk(use('1'), text('assistant'), result('1')), /messages\[1\]: must hold/],
  [
    'results in a message of their own',
    talk(use('1'), {
      role: 'user',
      content: [{ type: 'tool_result', toolUseId: '1', content: [] }, { type: 'text', text: 'x' }]
    }),
    /messages\[1\]: tool results are a user message of their own/
  ],
  [
    'results from the user', talk(use('1'), { ...result('1'), role: 'assistant' }),
    /messages\[1\]: tool results are a user message/
  ],
  [
    'uses by the assistant', talk({ ...use('1'), role: 'user' }, result('1')),
    /messages\[0\]: only the assistant uses tools/
  ],
  [
    'results for its last tool uses', talk(text('user'), use('1')),
    /messages: end with the tool uses "1"; their results must follow/
  ]
]

for (const [claim, request, problem] of BAD_SAMPLES) {
  t.test(`ask rejects a sampling request without ${claim} (232)`, async (t) => {
    t.match(await problemOf(request), problem)
  })
}
