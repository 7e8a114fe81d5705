// Checks the statements of the README that could become wrong. test/docs has the checks of all pages.

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { ROWS } from '../src/ops/config/settings.ts'
import { buildApp } from './helpers/app.ts'
import { send } from './helpers/request.ts'

const root = new URL('../', import.meta.url)
const readme = await readFile(new URL('README.md', root), 'utf8')

t.test('the table of settings has ten settings, with their defaults', async (t) => {
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`)? ?\| \S/gm)].map(
    ([, variable, fallback = '']) => [variable, fallback]
  )
  t.equal(rows.length, 10)
  for (const [variable, fallback] of rows) {
    const [, setting] = ROWS.find(([, row]) => row.variable === variable) ?? []
    t.equal(fallback, setting && String(setting.fallback ?? ''), String(variable))
  }
})

t.test('the first tool works as printed', async (t) => {
  const [, source = ''] = /```ts \S+\n(import \{ defineTool[^]*?)```/.exec(readme) ?? []
  const app = await buildApp(t, { 'tools/roll-dice.ts': source })
  const { response } = await send(app, {
    method: 'tools/call', params: { name: 'roll_dice', arguments: { count: 3 } }
  })
  t.equal(response.result.structuredContent.dice.length, 3)
  t.ok(response.result.structuredContent.dice.every((die: number) => die >= 1 && die <= 6))
})

t.test('every named script exists', async (t) => {
  const { scripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'))
  const named = [...readme.matchAll(/npm run\s+([\w:]+)/g)].map(([, script = '']) => script)
  t.ok(named.includes('bench'))
  for (const script of named) t.ok(scripts[script], `npm run ${script}`)
})

t.test('it is short', async (t) => {
  const isRow = (line: string) => line.startsWith('|')
  t.ok(readme.split('\n').filter((line) => !isRow(line)).length < 250)
})
