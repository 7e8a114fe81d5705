// How agents speak with a model. Each dialect reads a request, and writes an answer: a call of a tool, or a
// text that ends the turn.

/**
 * @typedef {object} ModelRequest
 * @property {ModelTool[]} tools
 * @property {string[]} results the results of tools, in the order of the calls, as the model reads them
 * @property {string} instructions what the model is told before the conversation
 *
 * @typedef {{ namespace?: string, name: string, description: string, schema: unknown }} ModelTool
 * @typedef {{ id: string, namespace?: string, name: string, args: object }} ModelCall
 * @typedef {{ call: ModelCall } | { text: string }} ModelAnswer
 */

const MODEL = 'scripted'
const USAGE = { input_tokens: 1, output_tokens: 1 }

/** The text of a part of a message, or what kind of part it is. */
function textOf (part) {
  if (typeof part === 'string') return part
  return part?.text ?? `[${part?.type ?? 'nothing'}]`
}

function joined (content) {
  return Array.isArray(content) ? content.map(textOf).join('\n') : textOf(content ?? '')
}

function partsOf (contents) {
  return contents.flatMap(({ parts = [] }) => parts)
}

/** Messages of Anthropic. */
const messages = {
  matches: ({ pathname }) => pathname.endsWith('/messages'),
  read: ({ tools = [], messages, system = '' }) => ({
    tools: tools.map(({ name, description, input_schema: schema }) => ({ name, description, schema })),
    results: messages.flatMap(({ content }) => Array.isArray(content) ? content : [])
      .filter(({ type }) => type === 'tool_result').map(({ content }) => joined(content)),
    instructions: joined(system) + messages.map(({ content }) => joined(content)).join('\n')
  }),
  * write (answer) {
    const event = (type, fields) => ({ event: type, data: { type, ...fields } })
    yield event('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [],
        stop_reason: null,
        usage: USAGE
      }
    })
    const block = 'call' in answer
      ? { type: 'tool_use', id: answer.call.id, name: answer.call.name, input: {} }
      : { type: 'text', text: '' }
    yield event('content_block_start', { index: 0, content_block: block })
    yield event('content_block_delta', {
      index: 0,
      delta: 'call' in answer
        ? { type: 'input_json_delta', partial_json: JSON.stringify(answer.call.args) }
        : { type: 'text_delta', text: answer.text }
    })
    yield event('content_block_stop', { index: 0 })
    const stopReason = 'call' in answer ? 'tool_use' : 'end_turn'
    yield event('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: USAGE })
    yield event('message_stop', {})
  }
}

/** Chat completions of OpenAI. */
const completions = {
  matches: ({ pathname }) => pathname.endsWith('/chat/completions'),
  read: ({ tools = [], messages }) => ({
    tools: tools.map(({ function: { name, description, parameters } }) => (
      { name, description, schema: parameters }
    )),
    results: messages.filter(({ role }) => role === 'tool').map(({ content }) => joined(content)),
    instructions: messages.filter(({ role }) => role !== 'tool')
      .map(({ content }) => joined(content)).join('\n')
  }),
  * write (answer) {
    const chunk = (delta, finish = null) => ({
      data: {
        id: 'chat-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: MODEL,
        choices: [{ index: 0, delta, finish_reason: finish }]
      }
    })
    if ('call' in answer) {
      const { id, name, args } = answer.call
      const call = { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
      yield chunk({ role: 'assistant', content: null, tool_calls: [call] })
    } else yield chunk({ role: 'assistant', content: answer.text })
    yield chunk({}, 'call' in answer ? 'tool_calls' : 'stop')
    yield { data: '[DONE]' }
  }
}

/** Responses of OpenAI. */
const responses = {
  matches: ({ pathname }) => pathname.endsWith('/responses'),
  read: ({ tools = [], input = [], instructions = '' }) => ({
    tools: tools.flatMap((tool) => tool.tools?.map((inner) => ({ ...inner, namespace: tool.name })) ?? [tool])
      .filter(({ type }) => type === 'function')
      .map(({ parameters, ...tool }) => ({ ...tool, schema: parameters })),
    results: input.filter(({ type }) => type === 'function_call_output').map(({ output }) => joined(output)),
    instructions: instructions + input.map(({ content }) => joined(content)).join('\n')
  }),
  * write (answer) {
    const event = (type, fields) => ({ event: type, data: { type, ...fields } })
    const item = 'call' in answer
      ? {
          type: 'function_call',
          id: `fc_${answer.call.id}`,
          call_id: answer.call.id,
          namespace: answer.call.namespace,
          name: answer.call.name,
          arguments: JSON.stringify(answer.call.args)
        }
      : {
          type: 'message',
          role: 'assistant',
          id: 'msg_1',
          content: [{ type: 'output_text', text: answer.text }]
        }
    yield event('response.created', { response: { id: 'resp_1' } })
    yield event('response.output_item.added', { output_index: 0, item })
    yield event('response.output_item.done', { output_index: 0, item })
    const usage = { ...USAGE, input_tokens_details: null, output_tokens_details: null, total_tokens: 2 }
    yield event('response.completed', { response: { id: 'resp_1', output: [item], usage } })
  }
}

/** Contents of Gemini. */
const contents = {
  matches: ({ pathname }) => /:(?:streamG|g)enerateContent$/.test(pathname),
  read: ({ tools = [], contents = [], systemInstruction }) => ({
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map(({ name, description, parametersJsonSchema, parameters }) => (
        { name, description, schema: parametersJsonSchema ?? parameters }
      )),
    results: partsOf(contents).filter(({ functionResponse }) => functionResponse)
      .map(({ functionResponse: { response: { output, error, ...members } } }) => (
        output ?? error ?? JSON.stringify(members)
      )),
    instructions: joined(systemInstruction?.parts) + partsOf(contents).map(textOf).join('\n')
  }),
  * write (answer) {
    const part = 'call' in answer
      ? { functionCall: { id: answer.call.id, name: answer.call.name, args: answer.call.args } }
      : { text: answer.text }
    yield {
      data: {
        candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        modelVersion: MODEL
      }
    }
  }
}

export const DIALECTS = [messages, completions, responses, contents]
