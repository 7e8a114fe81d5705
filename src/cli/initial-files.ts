// The files of a new catalog.

interface InitialOptions {
  /** The name of the package and of the server. */
  readonly name: string
  /** Trivet, as a package.json names it. */
  readonly dependency: string
  /** Whether the tool is JavaScript. */
  readonly js: boolean
}

export function initialFiles ({ name, dependency, js }: InitialOptions): Array<[path: string, text: string]> {
  const files: Array<[string, string]> = [
    ['package.json', toJson({
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      scripts: { dev: 'trivet dev', start: 'trivet serve', check: 'trivet check', test: 'node --test test/' },
      dependencies: { trivet: dependency },
      ...!js && { devDependencies: { '@types/node': '^20.0.0', typescript: '^5.9.0' } }
    })],
    ['.gitignore', 'node_modules/\ndata/\n'],
    ['catalog/server.yaml', `name: ${name}\ntitle: ${name}\nversion: 0.1.0\n`],
    [`catalog/tools/roll-dice.${js ? 'js' : 'ts'}`, TOOL],
    ['catalog/prompts/plan_a_game.md', PROMPT],
    ['catalog/resources/rules.md', RESOURCE],
    ['test/roll-dice.test.js', TEST]
  ]
  return js ? files : [...files, ['tsconfig.json', toJson(TSCONFIG)]]
}

function toJson (value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** For TypeScript that Node reads itself: types are taken out, and imports name the file as it is. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    erasableSyntaxOnly: true,
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
