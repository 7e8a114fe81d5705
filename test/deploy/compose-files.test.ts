// Every compose file of the project: against the schema of Compose, by a linter, and by rules of its own.

import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DCLinter } from 'dclint'
import t from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import {
  fillIn, findEndlessWaits, findMissingFiles, findSettingProblems, findUnhealthy, findUnknownVariables,
  findUntagged, readComposition, ROOT, type Composition
} from './compose-rules.ts'

const COMPOSE_FILE = /^(?:docker-)?compose.*\.ya?ml$/

/** They want orders of keys, a name, and no port twice. Two services of different profiles share a port. */
const UNUSED_RULES = [
  'no-build-and-image', 'no-duplicate-exported-ports', 'require-project-name-field', 'service-keys-order',
  'service-dependencies-alphabetical-order', 'service-image-require-explicit-tag',
  'service-ports-alphabetical-order', 'services-alphabetical-order', 'top-level-properties-order'
]
const linter = new DCLinter({
  rules: {
    ...Object.fromEntries(UNUSED_RULES.map((rule) => [rule, 0])),
    'require-quotes-in-ports': [2, { quoteType: 'double' }]
  },
  quiet: true,
  debug: false,
  exclude: []
})

/** The linter's own declarations cannot be read as those of an ES module. */
interface LintMessage { readonly rule: string, readonly line: number, readonly message: string }

function lint (path: string): readonly LintMessage[] {
  const results: ReadonlyArray<{ readonly messages: readonly LintMessage[] }> = linter.lintFiles(
    [path], false
  )
  return results.flatMap(({ messages }) => messages)
}

async function findComposeFiles (): Promise<readonly string[]> {
  const folders = await Promise.all(['deploy', 'examples'].map(async (folder) => {
    return (await readdir(join(ROOT, folder), { recursive: true })).map((path) => join(folder, path))
  }))
  return [...await readdir(ROOT), ...folders.flat()].filter((path) => COMPOSE_FILE.test(basename(path)))
}

const files = await findComposeFiles()

t.test('all compose files are found', async (t) => {
  t.ok(files.includes('docker-compose.yml'))
  t.ok(files.includes('examples/database/docker-compose.yml'))
})

for (const path of files) {
  t.test(path, async (t) => {
    const messages = lint(join(ROOT, path))
    t.strictSame(messages.map(({ rule, line, message }) => `${rule}:${line}: ${message}`), [])
    const composition = await readComposition(path)
    t.strictSame(findUnknownVariables(composition), [], 'each variable is a setting')
    t.strictSame(findSettingProblems(composition), [], 'each value is one of its setting')
    t.strictSame(await findMissingFiles(composition), [], 'each file exists')
    t.strictSame(await findUnhealthy(composition), [], 'each service has a health check')
    t.strictSame(findEndlessWaits(composition), [], 'what is waited for can come')
    t.strictSame(findUntagged(composition), [], 'each image has a version')
  })
}

t.test('each rule refuses what breaks it', async (t) => {
  const rulesOf = async (text: string) => {
    const folder = await writeCatalog(t, { 'compose.yml': text })
    return lint(join(folder, 'compose.yml')).map(({ rule }) => rule)
  }
  t.strictSame(await rulesOf('services:\n  a:\n    image: b:1\n    enviroment: {}\n'), ['invalid-schema'])
  const open = 'services:\n  a:\n    image: b:1\n    ports:\n      - "80:80"\n'
  t.strictSame(await rulesOf(open), ['no-unbound-port-interfaces'])
  t.strictSame(await rulesOf('services:\n  a: [\n'), ['invalid-yaml'])
  const services = {
    a: {
      build: '.',
      environment: { TRIVET_AUHT: 'none', OTHER: '1', HOST: '0.0.0.0', TRIVET_AUTH: 'nobody', SETTING: '1' },
      volumes: ['data:/data', './nowhere:/x', './deploy/tls:/tls', { type: 'bind', source: './neither' }],
      depends_on: { b: { condition: 'service_healthy' }, c: { condition: 'service_started' } }
    },
    b: { image: 'redis:latest', environment: { ANY: '1' }, env_file: 'no.env', depends_on: ['a'] }
  }
  const broken: Composition = {
    folder: ROOT,
    services,
    configs: { one: { file: './no.conf' }, two: { content: 'x' } },
    settings: new Set(['SETTING'])
  }
  t.strictSame(findUnknownVariables(broken), ['a: TRIVET_AUHT', 'a: OTHER'])
  t.match(findSettingProblems(broken), [/^a: .*\n *TRIVET_AUTH must be /])
  t.strictSame(await findMissingFiles(broken), ['./nowhere', './neither', 'no.env', './no.conf'])
  t.strictSame(await findUnhealthy(broken), ['b'])
  t.strictSame(findEndlessWaits(broken), ['a waits for b', 'a waits for c'])
  t.strictSame(findUntagged(broken), ['b'])
  t.match(fillIn('a $' + '{A:-b} $' + '{C:?d}'), /^a b a secret of /)
})
