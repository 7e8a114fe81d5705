// How the pages are written: sentences begin with their subject, so that no pronoun must be looked up.

import t from 'tap'
import { readPages, readPage, type Page } from './pages.ts'

/** A heading, a row of a table, a footnote or a picture is no sentence. */
const NO_SENTENCE = /^(?:#|\||\[\^|!\[|<|---)/
const BEGINNING = /(?:^|(?<=[.!?:;] )|(?<=\*\* ))(?:Who|Whoever|Whom|Whatever|Nobody|Somebody|Anybody|None|Those|That|What)\b.*?(?:[.:?]|$)/g

/** Returns the sentences of a page that begin with a pronoun. */
function findPronouns ({ prose }: Page): string[] {
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |[#|])/)
  return blocks.map((block) => block.trim()).filter((block) => !NO_SENTENCE.test(block)).flatMap((block) => {
    const text = block.replace(/^(?:[-*]|\d+\.) /, '').replaceAll(/\s+/g, ' ')
    return text.match(BEGINNING) ?? []
  })
}

t.test('no sentence begins with a pronoun', async (t) => {
  for (const page of await readPages()) t.strictSame(findPronouns(page), [], page.name)
})

t.test('a page for operators is short, and says first for whom it is', async (t) => {
  const forOperators = (await readPages()).filter(({ name }) => name.startsWith('docs/operating/'))
  t.ok(forOperators.length > 5)
  for (const { name, text } of forOperators) {
    t.match(text, /^# .+\n\nFor those who /, name)
    t.ok(text.split('\n').length <= 150, name)
  }
})

t.test('sentences are found in paragraphs and lists', async (t) => {
  const text = '# What it is\n\nIt is. Who\nasks gets it.\n- **A b.** Those of c.\n- What d\n' +
    '| Who | What |\n\n[What e](f) is g.\n```sh\nNobody\n```\n'
  t.strictSame(findPronouns(readPage('x.md', text)), ['Who asks gets it.', 'Those of c.', 'What d'])
})
