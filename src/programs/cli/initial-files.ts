// The files of a new catalog.

import { isObject } from '../../platform/protocol/json-rpc.ts'

interface InitialOptions {
  /** The package.json of the folder, if it has one. It is extended: what it says stays. */
  readonly manifest: { readonly [member: string]: unknown }
  /** The .gitignore of the folder, which is extended too. */
  readonly ignored: string
  /** The name of the package and of the server. */
  readonly name: string
  /** Trivet, as a package.json names it. */
  readonly dependency: string
  /** Whether the tool is JavaScript. */
  readonly js: boolean
  /** Whether the package stays CommonJS, because files of the project may need it. */
  readonly keepsType: boolean
}

/** The files that are extended where they exist. */
export const EXTENDED = ['package.json', '.gitignore'] as const

export function initialFiles (options: InitialOptions): Array<[path: string, text: string]> {
  const { name, js, keepsType } = options
  // These extensions are modules in a package of any type.
  const m = keepsType ? 'm' : ''
  const files: Array<[string, string]> = [
    ['package.json', toJson(toManifest(options))],
    ['.gitignore', toIgnored(options.ignored)],
    ['catalog/server.yaml', `name: ${name}\ntitle: ${name}\nversion: 0.1.0\n`],
    [`catalog/tools/roll-dice.${m}${js ? 'js' : 'ts'}`, TOOL],
    ['catalog/prompts/plan_a_game.md', PROMPT],
    ['catalog/resources/rules.md', RESOURCE],
    [`test/roll-dice.test.${m}js`, TEST]
  ]
  return js ? files : [...files, ['tsconfig.json', toJson(TSCONFIG)]]
}

/** The script that `npm init` writes. It fails. */
const NO_TEST = /^echo "Error: no test specified" && exit 1$/

function toManifest ({ name, dependency, js, manifest, keepsType }: InitialOptions): object {
  const { scripts, dependencies, devDependencies } = manifest
  // The script `start` needs the package, also where `npm ci --omit=dev` installs.
  const { trivet = dependency, ...development } = toMembers(devDependencies)
  const all = { trivet, ...toMembers(dependencies), ...development }
  // Each version of Node finds the tests by itself, and reads the name of a folder in its own way.
  const commands = { dev: 'trivet dev', start: 'trivet serve', check: 'trivet check', test: 'node --test' }
  // The oldest types of Node that vitest can be installed beside.
  const tools = { '@types/node': '^22.0.0', typescript: '^7.0.0' }
  const missing = Object.entries(js ? {} : tools).filter(([tool]) => !(tool in all))
  const devTools = { ...development, ...Object.fromEntries(missing) }
  return {
    name,
    version: '0.1.0',
    private: true,
    ...manifest,
    ...!keepsType && { type: 'module' },
    scripts: { ...commands, ...!js && { typecheck: 'tsc --noEmit' }, ...toOwnScripts(scripts) },
    dependencies: { trivet, ...toMembers(dependencies) },
    // JSON leaves out what is undefined.
    devDependencies: Object.keys(devTools).length > 0 ? devTools : undefined
  }
}

function toOwnScripts (scripts: unknown): object {
  return Object.fromEntries(Object.entries(toMembers(scripts)).filter(
    ([script, command]) => script !== 'test' || !NO_TEST.test(String(command))
  ))
}

function toMembers (value: unknown): { readonly [name: string]: unknown } {
  return isObject(value) ? value : {}
}

function toIgnored (ignored: string): string {
  const lines = ignored.split(/\r?\n/).filter((line) => line !== '')
  const missing = ['node_modules/', 'data/'].filter((line) => !lines.includes(line))
  return `${[...lines, ...missing].join('\n')}\n`
}

function toJson (value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Imports name the file as it is. The declarations of packages are checked where they are made. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    types: ['node']
  },
  include: ['catalog']
}

const TOOL = `import { defineTool } from 'trivet'

export default defineTool({
  name: 'roll_dice',
  description: 'Rolls six-sided dice and returns what each one shows.',
  inputSchema: {
    type: 'object',
    properties: { count: { type: 'integer', minimum: 1, maximum: 20, description: 'How many dice' } },
    required: ['count']
  },
  outputSchema: {
    type: 'object',
    properties: { dice: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 6 } } },
    required: ['dice']
  },
  run: ({ count }) => ({ dice: Array.from({ length: count }, () => 1 + Math.floor(Math.random() * 6)) })
})
`

const PROMPT = `---
title: Plan a game
description: Plans an evening of dice games for a group.
arguments:
  - name: players
    description: How many people play
    required: true
---
Plan an evening of dice games for {{players}} people. Explain each game in two sentences.
`

const RESOURCE = `# Rules

Six dice each. Whoever has the most equal dice wins the round.
`

const TEST = `import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openCatalog } from 'trivet/testing'

const catalog = await openCatalog('catalog')
after(async () => await catalog.close())

test('rolls as many dice as it is asked to', async () => {
  const { structuredContent } = await catalog.call('roll_dice', { count: 3 })
  assert.equal(structuredContent.dice.length, 3)
})

test('refuses more dice than there are', async () => {
  const { isError, text } = await catalog.call('roll_dice', { count: 21 })
  assert.equal(isError, true)
  assert.match(text, /count/)
})
`
