import t, { type Test } from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { send } from '../../helpers/request.ts'
import { call, toolsModule } from './tools-module.ts'

const REPORT = { type: 'resource_link', uri: 'https://example.com/r/1', name: 'report.csv' }
const RATES = {
  type: 'resource_link',
  uri: 'file:///rates.md',
  name: 'rates',
  title: 'The rates',
  description: 'Each day.',
  annotations: { audience: ['user'] }
}
const REPORT_TEXT = { type: 'text', text: 'Resource report.csv: https://example.com/r/1' }
const RATES_TEXT = {
  type: 'text', text: 'Resource The rates: file:///rates.md\nEach day.', annotations: { audience: ['user'] }
}

async function contentOf (t: Test, run: string, options?: string): Promise<unknown> {
  const tool = options === undefined ? { run } : { run, options }
  const app = await buildApp(t, { 'tools/a.ts': toolsModule({ a: tool }) })
  return (await send(app, call('a'))).response.result.content
}

t.test('a text behind each link says its name and its URI', async (t) => {
  t.strictSame(
    await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, RATES])} })`),
    [REPORT, REPORT_TEXT, RATES, RATES_TEXT]
  )
  t.strictSame(
    await contentOf(t, `() => { throw new ToolError('No.', { content: [${JSON.stringify(REPORT)}] }) }`),
    [{ type: 'text', text: 'No.' }, REPORT, REPORT_TEXT], 'in a tool error too'
  )
  t.strictSame(
    await contentOf(t, `() => toolResult({ content: [${JSON.stringify(REPORT)}], structuredContent: { a: 1 } })`),
    [REPORT, REPORT_TEXT, { type: 'text', text: '{"a":1}' }], 'beside the text of the structured content'
  )
})

t.test('no URI stands in two texts', async (t) => {
  const said = { type: 'text', text: `See ${REPORT.uri}.` }
  t.strictSame(
    await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, said])} })`), [REPORT, said],
    'the text of the author has it'
  )
  t.strictSame(
    await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, REPORT])} })`),
    [REPORT, REPORT_TEXT, REPORT]
  )
  const longer = { type: 'text', text: `See ${REPORT.uri}0 and ${REPORT.uri}/a.` }
  t.strictSame(
    await contentOf(t, `() => ({ content: ${JSON.stringify([longer, REPORT])} })`),
    [longer, REPORT, REPORT_TEXT], 'a longer URI is another one'
  )
  const other = { ...REPORT, uri: `${REPORT.uri}.pdf` }
  t.strictSame(
    await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, other])} })`),
    [REPORT, REPORT_TEXT, other, { type: 'text', text: `${REPORT_TEXT.text}.pdf` }]
  )
  for (const tail of ['', '.', ', and', ') or', '**', '"}', '>', '。', '|', '`', '...', '!\n']) {
    const text = { type: 'text', text: REPORT.uri + tail }
    t.strictSame(
      await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, text])} })`), [REPORT, text], tail
    )
  }
  const inside = { type: 'text', text: `web+${REPORT.uri}` }
  t.strictSame(
    await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, inside])} })`), [REPORT, REPORT_TEXT, inside]
  )
  for (const tail of ['.pdf', ':8', ',a', ')b', '+c', '@d', '.é', '...a', '/.', '?q']) {
    const text = { type: 'text', text: REPORT.uri + tail }
    t.strictSame(
      await contentOf(t, `() => ({ content: ${JSON.stringify([REPORT, text])} })`),
      [REPORT, REPORT_TEXT, text], tail
    )
  }
})

t.test('an author may send the links alone', async (t) => {
  const run = `() => toolResult({ links: 'blocks', content: [${JSON.stringify(REPORT)}] })`
  t.strictSame(await contentOf(t, run), [REPORT])
})

t.test('the texts of many links cost little beside a long text', async (t) => {
  const run = `() => ({ content: [
    { type: 'text', text: 'x'.repeat(2_000_000) + 'https://example.com/'.repeat(100_000) },
    ...Array.from({ length: 5000 }, (_, i) => ({ ...${JSON.stringify(REPORT)}, uri: 'https://example.com/' + (i || '') }))
  ] })`
  const app = await buildApp(t, { 'tools/a.ts': toolsModule({ a: { run } }) })
  const before = process.cpuUsage()
  const { content } = (await send(app, call('a'))).response.result
  const { user, system } = process.cpuUsage(before)
  t.equal(content.length, 10_001)
  t.ok(user + system < 2_000_000, `${user + system} µs`)
})
