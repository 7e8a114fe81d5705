// docs/glossary.md: each word is used on the page that it links to, and no page uses another word for it.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readAllPages, readPage, resolveLink, ROOT, type Page } from './pages.ts'

const NAME = 'docs/glossary.md'

/** Words of other libraries that also have a meaning of their own, and the texts in which they have it. */
const ALLOWED: { readonly [word: string]: RegExp } = {
  registry: /npm(?:'s)? registry|the image. They go to the registry/g,
  permission: /permissions of the upstream/g,
  repository: /this repository is hosted|catalogs in one repository/g,
  controller: /[Ii]ngress controller/g,
  quota: /CPU quotas|A quota that these files do not show/g,
  lock: /a lock of the database|refuses later locks|The lock belongs to the transaction/g
}

interface Row {
  readonly terms: readonly string[]
  readonly elsewhere: readonly string[]
  /** The path of the page that uses the terms. */
  readonly page: string
}

function readRows (text: string): Row[] {
  return [...text.matchAll(/^\| ([^|]+) \| [^|]+ \|(?: ([^|]+))? \| \[[^\]]+\]\(([^)]+)\) \|$/gm)].map(
    ([, terms = '', elsewhere, target = '']) => ({
      terms: terms.split(', '),
      elsewhere: elsewhere?.split(', ') ?? [],
      page: resolveLink(NAME, target).file
    })
  )
}

/** Returns the words that people read: no code, and no targets of links. */
function wordsOf ({ prose }: Page): string {
  return prose.replaceAll(/`[^`]*`/g, '`').replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/\s+/g, ' ')
}

function toPattern (word: string): RegExp {
  return new RegExp(`(?<![\\w-])${word.replace(/y$/, '(?:y|ie)')}(?:e?s|ing)?(?![\\w-])`, 'i')
}

const pages = await readAllPages()
const glossary = pages.find(({ name }) => name === NAME) ?? readPage(NAME, '')
const rows = readRows(glossary.prose)

t.test('each word is used on the page that it links to', async (t) => {
  t.equal(rows.length, glossary.prose.match(/^\| (?!Word|---)/gm)?.length, 'each row is read')
  t.ok(rows.length > 30)
  for (const { terms, page } of rows) {
    const text = await readFile(join(ROOT, page), 'utf8')
    for (const term of terms) t.match(text, toPattern(term), `${term}: ${page}`)
  }
})

t.test('a word has one row', async (t) => {
  const terms = rows.flatMap((row) => row.terms)
  t.strictSame(terms.filter((term, index) => terms.indexOf(term) !== index), [])
})

t.test('no page uses the word of another library', async (t) => {
  const words = rows.flatMap(({ elsewhere }) => elsewhere)
  t.ok(words.length > 10)
  const unused = new Set(Object.keys(ALLOWED))
  for (const page of pages.filter(({ name }) => name !== NAME)) {
    const text = wordsOf(page)
    for (const word of words) {
      const allowed = ALLOWED[word]
      const left = allowed === undefined ? text : text.replaceAll(allowed, '')
      if (left !== text) unused.delete(word)
      const [place] = new RegExp(`.{0,30}${toPattern(word).source}.{0,30}`, 'i').exec(left) ?? []
      t.equal(place, undefined, `${page.name}: ${word}`)
    }
  }
  t.strictSame([...unused], [], 'each text that is allowed is in a page')
})

t.test('rows and words are read from a page', async (t) => {
  const text = '| Word | Means | Elsewhere | Page |\n| --- | --- | --- | --- |\n' +
    '| a, b | It is | c, d | [P](p.md#q) |\n| d | It | | [P](../r.md) |\n'
  t.strictSame(readRows(text), [
    { terms: ['a', 'b'], elsewhere: ['c', 'd'], page: 'docs/p.md' },
    { terms: ['d'], elsewhere: [], page: 'r.md' }
  ])
  t.equal(wordsOf(readPage('x.md', 'a `job` [b](job.md)\nc')), 'a ` [b] c')
  for (const text of ['a registry', 'two Registries.']) t.match(text, toPattern('registry'), text)
  t.notMatch('a job-like', toPattern('job'))
})
