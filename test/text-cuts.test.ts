// Texts are cut by `cut` of base/text alone: `slice` would cut inside a character.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findTextCuts, loadProgram } from './helpers/text-cuts.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SRC = join(ROOT, 'src')

/** Files that cut texts which go nowhere, or have ASCII alone. */
const MAY_CUT: { readonly [file: string]: string } = {
  'base/text.ts': 'the function is here',
  'base/nearest-names.ts': 'the pairs of letters are compared',
  'catalog/compiled/resources/variable-values.ts': 'RFC 6570 counts the code points of a prefix',
  'edges/console/page/form/answer-problems.ts': 'the date of a time is checked',
  'features/files/storage.ts': 'a pattern has checked the key',
  'edges/http/replies.ts': 'all but ASCII is replaced',
  'platform/store/backends/redis/redis-error.ts': 'what an error repeats is looked for in its message',
  'platform/store/sealing/sealer.ts': 'a token is looked up by its beginning'
}

/** One line for each cut that must be found, and one for each that must not. */
const SAMPLE = `
  const MAX_LENGTH = 80
  declare const text: string, names: string[], bytes: Uint8Array, end: number, room: { left: number }
  declare const maybe: string | undefined, maxLength: number, hash: (text: string) => string
  export const cuts = [
    text.slice(0, 200), text.slice(0, MAX_LENGTH), text.slice(end, end + MAX_LENGTH), text.slice(0, room.left),
    text.slice(0, maxLength), maybe?.slice(0, 64), text.slice(-MAX_LENGTH), \`\${text}!\`.slice(0, 50),
    [...text].slice(0, 100), text.substring(end), text.substr(1, end)
  ]
  export const others = [
    text.slice(1), text.slice(0, end), text.slice(0, -1), text.slice(end + 1), text.slice(0, text.indexOf(':')),
    text.slice('file:'.length), names.slice(0, MAX_LENGTH), bytes.slice(0, 10), hash(text).slice(0, 8),
    text.slice(0, 1), text.slice(4, end - 1), [...names].slice(0, 10), new Date(0).toISOString().slice(0, 10)
  ]
`
const FOUND = [
  'text.slice(0, 200)', 'text.slice(0, MAX_LENGTH)', 'text.slice(end, end + MAX_LENGTH)',
  'text.slice(0, room.left)', 'text.slice(0, maxLength)', 'maybe?.slice(0, 64)', 'text.slice(-MAX_LENGTH)',
  // eslint-disable-next-line no-template-curly-in-string -- the code that is found
  '`${text}!`.slice(0, 50)', '[...text].slice(0, 100)', 'text.substring(end)', 'text.substr(1, end)'
]

const cuts = findTextCuts(loadProgram(ROOT, { path: join(SRC, 'sample.ts'), text: SAMPLE }), SRC)

t.test('finds each cut of a text at a limit, and no other slice', async (t) => {
  t.strictSame(cuts.filter(({ file }) => file === 'sample.ts').map(({ code }) => code), FOUND)
})

t.test('no text is cut at a limit by slice', async (t) => {
  const wrong = cuts.filter(({ file }) => file !== 'sample.ts' && MAY_CUT[file] === undefined)
  t.strictSame(wrong.map(({ file, code }) => `${file}: use cut of base/text in place of ${code}`), [])
})

t.test('each file that may cut does', async (t) => {
  const files = new Set(cuts.map(({ file }) => file))
  t.strictSame(Object.keys(MAY_CUT).filter((file) => !files.has(file)), [])
})
