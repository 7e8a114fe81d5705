// The rules of docs/promises.md: each sentence and each row of a table names the tests that hold it, by
// footnotes, and each footnote names a test that exists.

/** These sections promise nothing: they explain words, or say what is not promised. */
export const WITHOUT_PROMISES = ['Words', 'Not promised']

/** Returns the text of a file of the project. `undefined` if it does not exist. */
export type ReadFile = (path: string) => string | undefined

const DEFINITION = /^\[\^([\w-]+)\]: (.*(?:\n {4}.*)*)$/gm
const REFERENCE = /\[\^([\w-]+)\]/g
const TEST = /\[[^\]]+\]\(\.\.\/(test\/[^)]+\.ts)\) "([^"]+)"/g
/** A test of the runner, or one of a contract. Its name may be one or more texts that are added up. */
const TEST_NAME = /\btest\(\s*((?:(?:'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)\s*\+?\s*)+)/g

/** Returns what is wrong with the page, each problem with the words where it is. */
export function findProblems (page: string, readFile: ReadFile): string[] {
  const definitions = new Map([...page.matchAll(DEFINITION)].map(
    ([, name = '', text = '']) => [name, text.replaceAll(/\s+/g, ' ')]
  ))
  const body = page.replaceAll(DEFINITION, '')
  const references = new Set([...body.matchAll(REFERENCE)].map(([, name = '']) => name))
  return [
    ...toClaims(body).filter((claim) => !/\[\^[\w-]+\]/.test(claim)).map((claim) => `no test: ${claim}`),
    ...[...references].filter((name) => !definitions.has(name)).map((name) => `no footnote: ${name}`),
    ...[...definitions.keys()].filter((name) => !references.has(name)).map((name) => `not used: ${name}`),
    ...[...definitions].flatMap(([name, text]) => findTestProblems(name, text, readFile))
  ]
}

function findTestProblems (name: string, definition: string, readFile: ReadFile): string[] {
  const tests = [...definition.matchAll(TEST)]
  // What is left over of a definition is no test.
  const rest = definition.replaceAll(TEST, '').replaceAll(/[\s,]/g, '')
  if (tests.length === 0 || rest !== '') return [`no form of a test: ${name}`]
  return tests.flatMap(([, path = '', title = '']) => {
    const source = readFile(path)
    if (source === undefined) return [`no file: ${path}`]
    return toPatterns(source).some((pattern) => pattern.test(title)) ? [] : [`not in ${path}: ${title}`]
  })
}

/** The names of the tests in a source, where `${…}` stands for any text. */
function toPatterns (source: string): RegExp[] {
  return [...source.matchAll(TEST_NAME)].map(([, literals = '']) => {
    const text = [...literals.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)]
      .map(([, plain, template]) => plain ?? template ?? '').join('')
    const parts = text.replaceAll(/\\(.)/g, '$1').split(/\$\{[^}]*\}/)
    return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')}$`)
  })
}

/** The sentences, and the rows of tables, of all sections that promise something. */
export function toClaims (page: string): string[] {
  const [, ...sections] = page.split(/^## /m)
  return sections.flatMap((section) => {
    const [heading = '', ...lines] = section.split('\n')
    return WITHOUT_PROMISES.includes(heading) ? [] : lines.join('\n').split(/\n\n+/).flatMap(toBlockClaims)
  })
}

function toBlockClaims (block: string): string[] {
  const lines = block.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  if (lines[0]?.startsWith('|') === true) return lines.slice(2)
  const items = lines.join('\n').split(/^- /m).filter((item) => item !== '')
  return items.flatMap((item) => item.replaceAll(/\s+/g, ' ').trim()
    .split(/(?<=[.:](?:\[\^[\w-]+\])*) (?=[A-Z`*])/)
    // What introduces a list or a table claims nothing.
    .filter((sentence) => sentence !== '' && !sentence.endsWith(':')))
}
