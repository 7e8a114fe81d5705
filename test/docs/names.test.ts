// The names of the product in the pages: what they name exists, and what exists they name.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  appSettings, fileSettings, folderSettings
} from '../../src/catalog/compiled/definitions/definition-shapes.ts'
import { NO_LIMITS } from '../../src/platform/limits/call-limits.ts'
import { ROWS } from '../../src/ops/config/settings.ts'
import { runProgram } from '../helpers/program.ts'
import { readPages, ROOT } from './pages.ts'
import { readTexts } from './source-texts.ts'

const pages = await readPages()
const text = pages.map((page) => page.text).join('\n')
/** What stands in code in the prose of all pages, in one line each. */
const code = pages.flatMap(({ prose }) => [...prose.matchAll(/`([^`\n]+)`/g)].map(([, words = '']) => words))
const words = new Set([...code, ...pages.flatMap(({ blocks }) => blocks.map((block) => block.text))]
  .flatMap((one) => one.match(/[\w$]+/g) ?? []))

const readSource = async (path: string) => await readFile(join(ROOT, path), 'utf8')

/** Variables of the commands. The service has no such settings. */
const OF_COMMANDS = ['TRIVET_TOKEN']

/** Variables of the tests of this project. */
const OF_TESTS = ['TRIVET_TEST_REQUIRE_SERVERS']

t.test('every setting that a page names exists, and every setting is named', async (t) => {
  const variables = [...ROWS.map(([, { variable }]) => variable), ...OF_COMMANDS, ...OF_TESTS]
  const known: ReadonlySet<string> = new Set(variables)
  const named = new Set(text.match(/\bTRIVET_[A-Z_]*[A-Z]\b/g))
  t.strictSame([...named].filter((name) => !known.has(name)), [])
  t.strictSame(variables.filter((name) => name.startsWith('TRIVET_') && !named.has(name)), [])
})

/** The commands of `trivet`, each with its flags. */
async function readCommands (): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { out } = await runProgram(['--help'])
  const commands = [...out.matchAll(/^ {2}([a-z]+) [ [<]/gm)].map(([, name = '']) => name)
  const own = commands.filter((name) => name !== 'help')
  return new Map(await Promise.all(own.map(async (name) => {
    const help = (await runProgram([name, '--help'])).out
    return [name, new Set([...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag))] as const
  })))
}

t.test('every command and flag that a page names exists, and all are in commands.md', async (t) => {
  const commands = await readCommands()
  t.strictSame([...commands.keys()].toSorted(), [
    'call', 'check', 'completion', 'dev', 'diff', 'init', 'list', 'serve', 'state', 'tasks', 'token'
  ])
  const lines = [...code, ...pages.flatMap(({ blocks }) => blocks.flatMap((block) => block.text.split('\n')))]
  for (const line of lines) {
    const [, name, rest = ''] = /(?:^|\s|\/)(?:trivet|main\.js) ([a-z]+)\b([^|>&;#]*)/.exec(line) ?? []
    if (name === undefined) continue
    t.ok(commands.has(name), `trivet ${name}: ${line}`)
    for (const flag of rest.match(/(?<=\s)--[\w-]+/g) ?? []) {
      t.ok(flag === '--help' || commands.get(name)?.has(flag), `trivet ${name} ${flag}`)
    }
  }
  const page = pages.find(({ name }) => name === 'docs/commands.md')?.text ?? ''
  const settings = new Set(ROWS.map(
    ([, { variable }]) => `--${variable.replace(/^TRIVET_/, '').toLowerCase().replaceAll('_', '-')}`
  ))
  for (const [name, flags] of commands) {
    t.match(page, `\`npx trivet ${name}`, name)
    for (const flag of flags) {
      if (flag === '--help' || (/serve|dev/.test(name) && settings.has(flag))) continue
      t.ok(page.includes(flag), `trivet ${name} ${flag}`)
    }
  }
})

t.test('a command is written as it works: with npx', async (t) => {
  const commands = [...(await readCommands()).keys()].join('|')
  const bare = new RegExp(`(?<![\\w/-]|npx )trivet (?:${commands})\\b`)
  t.ok(bare.test('run "trivet check"') && !bare.test('npx trivet check') && !bare.test('/srv/trivet serve'))
  // A shell completes a command on its path, and npm finds the commands of scripts.
  const onPath = /\btrivet completion |^trivet (?:dev|serve|check)$/
  const files = (await readdir(join(ROOT, 'src'), { recursive: true })).filter((file) => file.endsWith('.ts'))
  const texts = await Promise.all(files.map(async (file) => readTexts(await readSource(join('src', file)))))
  const written = pages.flatMap(({ blocks }) => blocks.map((block) => block.text))
  const lines = [...texts.flat(), ...code, ...written].flatMap((one) => one.split('\n'))
  t.strictSame(lines.filter((line) => bare.test(line) && !onPath.test(line)), [])
})

t.test('every name that the package exports is in a page', async (t) => {
  for (const file of ['src/index.ts', 'src/testing.ts']) {
    const source = await readSource(file)
    const names = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
      ([, list = '']) => list.split(',').map((name) => name.trim()).filter((name) => name !== '')
    )
    t.ok(names.length > 10)
    t.strictSame(names.filter((name) => !words.has(name)), [], file)
  }
})

t.test('every key of the files of settings, front matter and limits is in a page', async (t) => {
  const keysOf = (source: string) => {
    const [, shape = ''] = /\bType\.Object\(\{\n([^]*?)\n\}, closed\)/.exec(source) ?? []
    return [...shape.matchAll(/^ {2}(\w+): /gm)].map(([, key = '']) => key)
  }
  const yaml = keysOf(await readSource('src/catalog/folder/server-yaml.ts'))
  const signIn = keysOf(await readSource('src/features/sign-in/people/sign-in-file.ts'))
  const matter = keysOf(await readSource('src/catalog/folder/prompts/markdown-prompt.ts'))
  const sidecars = [fileSettings, folderSettings, appSettings].flatMap(
    ({ properties }) => Object.keys(Object(properties))
  )
  t.ok(signIn.includes('admit') && signIn.includes('times'))
  t.ok(yaml.includes('instructions') && yaml.includes('scopes') && matter.includes('arguments'))
  t.ok(sidecars.includes('mimeType'))
  // An author writes `cutBytes` as `resultBytes: { max, then: 'cut' }`.
  const limits = Object.keys(NO_LIMITS).filter((key) => key !== 'cutBytes')
  const keys = [...yaml, ...signIn, ...matter, ...sidecars, 'listTtlMs', 'readTtlMs', ...limits]
  t.strictSame(keys.filter((key) => !words.has(key)), [])
})

t.test('every dependency of the package has a row in the table of costs', async (t) => {
  const { dependencies } = JSON.parse(await readSource('package.json'))
  const rows = [...(await readSource('docs/operating/packages.md')).matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name)
  t.strictSame(rows.toSorted(), Object.keys(dependencies).toSorted())
})

t.test('every member of ctx is in a page', async (t) => {
  const source = await readSource('src/platform/author/context.ts')
  const [, members = ''] = /export interface Context \{\n([^]*?)\n\}/.exec(source) ?? []
  const names = [...members.matchAll(/^ {2}(?:readonly )?(\w+)\b.*[:(]/gm)].map(([, name = '']) => name)
  t.ok(names.includes('signal') && names.includes('ask'))
  t.strictSame(names.filter((name) => !words.has(name)), [])
})
