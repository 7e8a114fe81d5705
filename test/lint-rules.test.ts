// The rules of lint for Plain English: each is shown sources that break it, and sources that are fine.

import { Linter } from 'eslint'
import { plugins } from 'neostandard'
import t from 'tap'
import { plainEnglish } from '../build/lint-rules.mjs'

const { parser } = plugins['typescript-eslint']

/** Returns the lines at which the rule finds something. */
function findLines (rule: string, source: string): number[] {
  const messages = new Linter().verify(source, [{
    languageOptions: { parser },
    plugins: { 'plain-english': plainEnglish },
    rules: { [`plain-english/${rule}`]: 'error' }
  }])
  for (const { fatal, message } of messages) if (fatal === true) throw new Error(message)
  return messages.map(({ line }) => line)
}

const BAD_NAMES = [
  'const kept = 1',
  'const { key: found } = record',
  'const { key, ...rest } = record',
  'const [first, ...others] = list',
  'for (const one of tools) run(one)',
  'function read (given) {}',
  'function read (wanted = 1) {}',
  'tools.find((one) => one.name === name)',
  'class Reader { read (what) {} }',
  'interface Reader { read (what: string): void }',
  'type Read = (what: string) => void',
  'try { run() } catch (what) {}',
  'const IS_HELD = -3',
  'const MAY_CUT = /cut/',
  'const HAS_PORT = new Set()',
  'const CAN_ASK = []'
]

const GOOD_NAMES = [
  'const record = 1',
  'const { kept: record } = room',
  'const { key, ...claims } = record',
  'list.toSorted((left, right) => left - right)',
  'interface Room { kept: string }',
  'const HELD = -3',
  'const IS_LONG = seconds !== undefined',
  'const HAS_PORT = false'
]

const BAD_COMMENTS = [
  '// Who closes gets the error.',
  '/** Whoever has it may change tasks. */',
  '// Nobody may ask again.',
  '/**\n * Those that wait.\n * @param key of the record\n */',
  '/** That of the tool. */',
  '// Of the last probe.',
  '// By their numbers.',
  'const key = 1 // As in a service.',
  '// Returns the error. Who closes gets it.',
  '// Returns the error.\n// Nobody may ask again.',
  '/**\n * Returns the error.\n * Whoever closes gets it.\n */'
]

const GOOD_COMMENTS = [
  '// Returns the error to the caller, who may ask again.',
  '// Lines below each other are one comment: here the line\n// That follows does not begin one.',
  '/**\n * Returns the scopes that are needed\n * Of all replicas.\n */',
  '// Offers the task.'
]

t.test('a local is a noun, and so is a constant that answers no question', async (t) => {
  for (const source of BAD_NAMES) t.strictSame(findLines('names', source), [1], source)
  for (const source of GOOD_NAMES) t.strictSame(findLines('names', source), [], source)
})

t.test('a comment begins with its subject', async (t) => {
  for (const source of BAD_COMMENTS) t.strictSame(findLines('comments', source), [1], source)
  for (const source of GOOD_COMMENTS) t.strictSame(findLines('comments', source), [], source)
})
