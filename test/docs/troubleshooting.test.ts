// docs/troubleshooting.md has each line of the log that an operator may have to act on, and no text that the
// service does not have.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from './pages.ts'
import { readLogLines, readTexts } from './source-texts.ts'

const PAGE = await readFile(join(ROOT, 'docs/troubleshooting.md'), 'utf8')

const SRC = join(ROOT, 'src')
const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted()
const sources = await Promise.all(
  files.map(async (file) => [file, await readFile(join(SRC, file), 'utf8')] as const)
)

/** Texts in the first column of the tables that the service writes: the others are words of this page. */
const quotes = [...PAGE.matchAll(/^\| (.*?) \| /gm)].flatMap(
  ([, cell = '']) => [...cell.matchAll(/`([^`]+ [^`]+)`/g)].map(([, quote = '']) => quote)
).filter((quote) => quote !== "whenMissing: 'hide'")

/** Places whose text comes from elsewhere, and where that is. */
const ELSEWHERE: { readonly [file: string]: string } = {
  'platform/access/static-tokens.ts': 'both messages are arguments of `report`, and on the page',
  'features/sign-in/flows/identify.ts': 'RULE_BROKEN is on the page',
  'features/sign-in/grants/provider-tokens.ts': 'RULE_BROKEN is on the page',
  'base/outage-log.ts': 'the message of whoever creates it',
  'edges/http/unavailable-log.ts': 'the message of its outage log',
  'features/tasks/runs/reports.ts': 'the four texts of LEFT are on the page'
}

/** Texts that are not on the page, and why. */
const UNLISTED: { readonly [text: string]: string } = {
  'the service has not started': 'it introduces the problems, which are on the page'
}

const escape = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const patterns = new Map<string, RegExp>()

/** Whether a text has the quote. `…` of a quote stands for any text. */
function has (text: string, quote: string): boolean {
  const pattern = patterns.get(quote) ?? new RegExp(quote.split('…').map(escape).join('[^]*?'))
  patterns.set(quote, pattern)
  return pattern.test(text)
}

t.test('each text of the page is a text of the service', async (t) => {
  const texts = sources.flatMap(([, source]) => readTexts(source))
  t.ok(quotes.length > 60)
  t.strictSame(quotes.filter((quote) => !texts.some((text) => has(text, quote))), [])
})

t.test('each warning and error of the log is on the page', async (t) => {
  const lines = sources.flatMap(([file, source]) => readLogLines(file, source))
  t.ok(lines.length > 50)
  const unknown = lines.filter(({ file, text }) => text === undefined && ELSEWHERE[file] === undefined)
  t.strictSame(unknown, [], 'a text that comes from elsewhere is explained')
  const missing = lines.flatMap(({ text = '' }) => text).filter(
    (text) => text !== '' && UNLISTED[text] === undefined && !quotes.some((quote) => has(text, quote))
  )
  t.strictSame(missing, [], 'and every other one has a row')
  for (const file of Object.keys(ELSEWHERE)) t.ok(lines.some((line) => line.file === file), file)
  for (const text of Object.keys(UNLISTED)) t.ok(lines.some((line) => line.text === text), text)
  const { 'features/tasks/runs/reports.ts': reports = '' } = Object.fromEntries(sources)
  for (const left of readTexts(reports).filter((text) => text.includes('left to other replicas:'))) {
    t.ok(quotes.includes(left), left)
  }
})

t.test('each problem of settings is on the page', async (t) => {
  const config = sources.filter(([file]) => /^(?:app|ops\/config)\//.test(file))
  const problems = config.flatMap(([, source]) => readTexts(source)).filter(
    (text) => /^(?:TRIVET_[A-Z_]+|HOST) (?:has|is|names) /.test(text) && !text.endsWith(' is used')
  )
  t.ok(problems.length > 10)
  t.strictSame(problems.filter((text) => !quotes.some((quote) => has(text, quote))), [])
})

t.test('lines and texts are read from a source', async (t) => {
  const source = [
    "log.warn({ a }, 'one ' + `t$", '{b}o`)\n', "this.#log.error({}, TEXT)\nlog.info({}, 'x')\n",
    "createOutageLog({ log, message: 'away' })\nrequest.log.fatal('it')\nx.error('no log')\n"
  ].join('')
  t.strictSame(readLogLines('a.ts', source).map(({ text }) => text), ['one t…o', undefined, 'away', 'it'])
  t.strictSame(readTexts(['f(`a $', "{'b'}`)"].join('')), ['a …', 'b'])
  t.ok(has('it is 5 ms late', 'is … ms'))
  t.notOk(has('it is late', 'is … ms'))
})
