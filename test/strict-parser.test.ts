// A strict parser of JSON in another language takes every answer, whatever its texts are (1).

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { anyText } from './helpers/any-text.ts'
import { buildApp } from './helpers/app.ts'
import { DOORS, CATALOG, postParts, shared } from './helpers/text-doors.ts'
import { hasPrograms } from './servers/programs.ts'

const TEXTS = 60
const PYTHON = 'python3'

/** Reads one document in each line. Each text must be one that can be written again as UTF-8. */
const PARSER = `
import json, sys
def refuse(name): raise ValueError(name)
def once(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names): raise ValueError('a name twice')
    return dict(pairs)
count = 0
for line in sys.stdin.buffer:
    try:
        value = json.loads(line.decode('utf-8', 'strict'), parse_constant=refuse, object_pairs_hook=once)
        json.dumps(value, ensure_ascii=False).encode('utf-8', 'strict')
        count += 1
    except Exception as error:
        print(error, line[:300])
print(count)
`

t.test('Python takes each answer', async (t) => {
  if (!hasPrograms(t, [PYTHON], 'python3')) return
  const app = await buildApp(t, CATALOG)
  const documents: string[] = []
  const texts = [
    ...fc.sample(anyText(), { numRuns: TEXTS, seed: 1 }), '\ud83d', 'a\udc00"\\ud800', '\u0000\u2028'
  ]
  for (const toParts of Object.values(DOORS)) {
    for (const text of texts) {
      shared.text = text
      const body = String(await postParts(app, toParts(text)))
      const lines = body.startsWith('{') ? [`data: ${body}`] : body.split('\n')
      const data = lines.filter((line) => line.startsWith('data: {'))
      documents.push(...data.map((line) => line.slice('data: '.length)))
    }
  }
  t.ok(documents.length >= texts.length * Object.keys(DOORS).length)
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', PARSER], { input: documents.join('\n') })
  t.strictSame([String(stdout).trim(), String(stderr)], [String(documents.length), ''])
  const bad = spawnSync(PYTHON, ['-c', PARSER], { input: '{"a":1,"a":2}\n"\\ud83d"\nNaN\n' })
  t.match(String(bad.stdout), /a name twice[^]*surrogates not allowed[^]*NaN[^]*\n0/)
})
