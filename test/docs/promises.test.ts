// docs/promises.md promises nothing that no test holds.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from './pages.ts'
import { findProblems, toClaims, WITHOUT_PROMISES } from './promise-rules.ts'

const page = readFileSync(join(ROOT, 'docs/promises.md'), 'utf8')

const readFile = (path: string) => (
  existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined
)

t.test('each sentence and each row names a test that exists', async (t) => {
  t.strictSame(findProblems(page, readFile), [])
  t.ok(toClaims(page).length > 40)
  for (const heading of WITHOUT_PROMISES) t.ok(page.includes(`\n## ${heading}\n`), heading)
  t.ok(page.split('\n').length < 300)
})

const SOURCE = ["t.test('one ' +\n  'and two', …)\nt.test(`$", '{what}, at each time`, …)'].join('')
const FOOTNOTE = '[^a]: [x](../test/x.test.ts) "one and two"'

const toPage = (text: string, footnote = FOOTNOTE) => (
  `# Title\n\nIntroduction.\n\n## Section\n\n${text}\n\n${footnote}\n`
)
const check = (text: string) => findProblems(text, (path) => path === 'test/x.test.ts' ? SOURCE : undefined)

t.test('a page whose claims name their tests has no problem', async (t) => {
  const table = '| Head | Head |\n| --- | --- |\n| A cell | Another[^a] |'
  for (const text of [
    'A sentence.[^a] `Another` one that\ngoes on.[^a]', '- An item.[^a]\n- Another\n  item.[^a]', table,
    `A list follows:\n\n${table}`
  ]) t.strictSame(check(toPage(text)), [], text)
  t.strictSame(check(toPage('A.[^a]', '[^a]: [x](../test/x.test.ts) "a kill, at each time"')), [])
  t.strictSame(check(`${toPage('A.[^a]')}\n## Not promised\n\nNothing holds this.\n`), [])
})

const PROBLEMS: ReadonlyArray<readonly [problem: string, page: string]> = [
  ['no test: B.', toPage('A.[^a] B.')],
  ['no test: B.', toPage('- A.[^a]\n- B.')],
  ['no test: | B | B |', toPage('| H | H |\n| - | - |\n| A | A[^a] |\n| B | B |')],
  ['no test: It\'s `so`.', toPage('A.[^a]\n\n### Within\n\nIt\'s `so`.')],
  ['no footnote: b', toPage('A.[^a] B.[^b]')],
  ['not used: b', `${toPage('A.[^a]')}[^b]: [x](../test/x.test.ts) "one and two"\n`],
  ['no form of a test: a', toPage('A.[^a]', '[^a]: somewhere')],
  ['no form of a test: a', toPage('A.[^a]', `${FOOTNOTE}, and elsewhere`)],
  ['no file: test/y.test.ts', toPage('A.[^a]', '[^a]: [y](../test/y.test.ts) "one and two"')],
  ['not in test/x.test.ts: one', toPage('A.[^a]', '[^a]: [x](../test/x.test.ts) "one"')],
  ['not in test/x.test.ts: , at each time', toPage('A.[^a]', '[^a]: [x](../test/x.test.ts) ", at each time"')]
]

for (const [index, [problem, text]] of PROBLEMS.entries()) {
  t.test(`problem ${index + 1} is found: ${problem}`, async (t) => t.strictSame(check(text), [problem]))
}
