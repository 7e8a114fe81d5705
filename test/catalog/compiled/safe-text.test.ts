// What a model reads of a tool's output (136).

import t from 'tap'
import { toSafeText } from '../../../src/catalog/compiled/results/safe-text.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { send } from '../../helpers/request.ts'

const DIRTY = 'a\x1b[31mred\x1b[0m \0b\u202ec\u2066d\u2069\x9be\x7f'
const SAFE = 'ared bcde'

t.test('controls and overrides of direction go', async (t) => {
  t.equal(toSafeText('a\x1b[31mred\x1b[0m \0b\x08c\u202ed\u2066e\u2069\x85f\x7f'), 'ared bcdef')
})

t.test('text that people write stays', async (t) => {
  for (const text of ['a\tb\r\nc', '👩‍💻 naïve', 'עברית\u200f!', 'نص\u061c', 'می‌خواهم', '\u00a0\u2028', '']) {
    t.equal(toSafeText(text), text)
  }
})

const OUTPUTS: ReadonlyArray<readonly [name: string, run: string, more?: string]> = [
  ['text', `() => ${JSON.stringify(DIRTY)}`],
  ['error', `() => { throw new ToolError(${JSON.stringify(DIRTY)}) }`],
  ['content', `() => ({ content: [{ type: 'text', text: ${JSON.stringify(DIRTY)} }] })`]
]

t.test('texts of every kind of output are safe', async (t) => {
  const files = Object.fromEntries(OUTPUTS.map(([name, run]) => [`tools/${name}.ts`, toolModule(name, '', run)]))
  const app = await buildApp(t, {
    ...files,
    'tools/structured.ts': toolModule('structured', '', `() => ({ at: ${JSON.stringify(DIRTY)} })`),
    'tools/embedded.ts': toolModule('embedded', '', `() => ({ content: [
      { type: 'resource', resource: { uri: 'x://a', text: ${JSON.stringify(DIRTY)} } },
      { type: 'resource_link', uri: 'x://b', name: ${JSON.stringify(DIRTY)}, description: 'd\\0' }
    ] })`)
  })
  const call = async (name: string) =>
    (await send(app, { method: 'tools/call', params: { name } })).response.result
  for (const [name] of OUTPUTS) t.equal((await call(name)).content[0].text, SAFE, name)
  const { content, structuredContent } = await call('structured')
  t.notMatch(content[0].text, /[\u202e\u2066\u2069\x7f-\x9f]/)
  t.strictSame(structuredContent, { at: DIRTY }, 'data for programs')
  t.strictSame(JSON.parse(content[0].text), structuredContent, 'the text has its escapes')
  t.match(await call('embedded'), {
    content: [{ resource: { text: SAFE } }, { name: SAFE, description: 'd' }]
  })
})
