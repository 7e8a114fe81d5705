import t, { type Test } from 'tap'
import { isErrorOutput } from '../../../src/catalog/compiled/results/tool-result-json.ts'
import { accepted } from '../../../src/platform/schema/check.ts'
import { buildApp } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'
import { call, toolsModule } from './tools-module.ts'

const SUM = "outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }"
const ANY = "outputSchema: { type: 'object' }"
const HAS_CONTENT = `outputSchema: {
  type: 'object', properties: { content: { type: 'array', items: { type: 'object' } } }, required: ['content']
}`
const PICTURE = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
const TEXT = { type: 'text', text: 'three' }

/** Serves tools of one schema, whose outputs are values. */
async function serve (t: Test, options: string, outputs: { readonly [name: string]: unknown }) {
  const log = createReadableLog()
  const tools = Object.entries(outputs).map(([name, output]) => (
    [name, { options, run: typeof output === 'string' ? output : `() => (${JSON.stringify(output)})` }]
  ))
  const { logger } = log
  const app = await buildApp(t, { 'tools/a.ts': toolsModule(Object.fromEntries(tools)) }, { logger })
  return {
    log,
    async call (name: string) {
      const { response } = await send(app, call(name))
      if (response.result === undefined) return response
      const { _meta, resultType, ...result } = response.result
      return result
    }
  }
}

t.test('a tool with an output schema may return a result as the official SDK has it (128)', async (t) => {
  const service = await serve(t, SUM, {
    text: { content: [TEXT], structuredContent: { sum: 3 } },
    picture: { content: [PICTURE], structuredContent: { sum: 3 } },
    meta: { content: [], structuredContent: { sum: 3 }, isError: false, _meta: { 'example.com/a': 1 } },
    failed: { content: [{ type: 'text', text: 'no sum' }], isError: true },
    failed_later: "async () => ({ content: [{ type: 'text', text: 'no sum' }], isError: true })"
  })
  t.strictSame(await service.call('text'), { content: [TEXT], structuredContent: { sum: 3 } })
  t.strictSame(await service.call('picture'), {
    content: [PICTURE, { type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 }
  }, 'the text of the structured content is added (130)')
  t.strictSame(await service.call('meta'), {
    content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 }
  })
  for (const name of ['failed', 'failed_later']) {
    t.strictSame(
      await service.call(name), { content: [{ type: 'text', text: 'no sum' }], isError: true },
      'an error needs no structured content (129)'
    )
  }
  const check = () => accepted({})
  t.ok(isErrorOutput({ content: [TEXT], isError: true }, check), 'what was done is undone')
  t.notOk(isErrorOutput({ content: [TEXT], isError: true, cost: 1 }, check))
})

t.test('a wrong result of this form is an internal error: the log says what to return (128)', async (t) => {
  const service = await serve(t, SUM, {
    wrong: { content: [TEXT], structuredContent: { sum: 'three' } },
    missing: { content: [TEXT] },
    malformed: { content: [{ type: 'imgae' }], structuredContent: { sum: 3 } },
    more: { content: [TEXT], structuredContent: { sum: 3 }, cost: 1 }
  })
  const problems = {
    wrong: /outputSchema: sum: must be number.*; return what outputSchema describes, or \{ content, struct/,
    missing: /outputSchema: sum: is required.*; return what outputSchema describes, or \{ content, struct/,
    malformed: /the blocks of content are malformed; return what/,
    more: /outputSchema: sum: is required/
  }
  for (const [name, problem] of Object.entries(problems)) {
    t.match(await service.call(name), { error: { code: -32603, message: 'Internal error' } }, name)
    const line = service.log.lines.find(({ name: tool, err }) => tool === name && err !== undefined)
    t.match(line?.err.message, problem)
  }
})

t.test('what is valid both ways is a result if it has isError or valid structured content', async (t) => {
  const lenient = await serve(t, ANY, {
    both: { content: [TEXT], structuredContent: { sum: 3 } },
    failed: { content: [TEXT], isError: true },
    neither: { content: [TEXT] },
    more: { content: [TEXT], total: 1 }
  })
  t.strictSame(await lenient.call('both'), { content: [TEXT], structuredContent: { sum: 3 } })
  t.strictSame(await lenient.call('failed'), { content: [TEXT], isError: true })
  for (const [name, value] of [
    ['neither', { content: [TEXT] }], ['more', { content: [TEXT], total: 1 }]
  ] as const) {
    t.strictSame(await lenient.call(name), {
      content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value
    })
  }
})

t.test('a schema may have a member content, and a picture in it is not sent as text', async (t) => {
  const service = await serve(t, HAS_CONTENT, {
    own: { content: [PICTURE] },
    sdk: { content: [PICTURE], structuredContent: { content: [PICTURE] } },
    rows: { content: [{ row: 1 }] },
    texts: { content: [TEXT] }
  })
  for (const name of ['own', 'sdk']) {
    t.strictSame(await service.call(name), {
      content: [PICTURE], structuredContent: { content: [PICTURE] }
    }, name)
  }
  for (const [name, content] of [['rows', [{ row: 1 }]], ['texts', [TEXT]]] as const) {
    t.strictSame(await service.call(name), {
      content: [{ type: 'text', text: JSON.stringify({ content }) }], structuredContent: { content }
    }, name)
  }
})

t.test('structured content of an error that breaks the schema is only a text (129)', async (t) => {
  const service = await serve(t, SUM, {
    wrong: '() => toolResult({ isError: true, structuredContent: { reason: "full" } })',
    told: `() => toolResult({ isError: true, content: [${JSON.stringify(TEXT)}], structuredContent: {} })`,
    sdk: { content: [], structuredContent: { reason: 'full' }, isError: true },
    right: '() => toolResult({ isError: true, structuredContent: { sum: 0 } })'
  })
  const text = { type: 'text', text: '{"reason":"full"}' }
  t.strictSame(await service.call('wrong'), { content: [text], isError: true })
  t.strictSame(await service.call('told'), { content: [TEXT], isError: true })
  t.strictSame(await service.call('sdk'), { content: [text], isError: true })
  t.strictSame(await service.call('right'), {
    content: [{ type: 'text', text: '{"sum":0}' }], structuredContent: { sum: 0 }, isError: true
  })
  const left = 'structured content of a tool error left out'
  const warnings = service.log.lines.filter(({ msg }) => msg === left)
  t.strictSame(warnings.map(({ problems }) => problems), Array(3).fill(['sum: is required, but missing']))
})
