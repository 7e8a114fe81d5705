import neostandard, { plugins } from 'neostandard'
import { plainEnglish } from './build/lint-rules.mjs'

const maxLen = { code: 110, ignoreUrls: true, ignoreRegExpLiterals: true }

/** It reads the variable before it waits, and so undoes what others have set meanwhile. */
const assignedAfterAwait = {
  selector: "AssignmentExpression[operator!='='][operator!='??='] AwaitExpression",
  message: 'Wait first, then read the variable and assign to it.'
}

export default [
  ...neostandard({ ts: true, ignores: ['dist/', '.tap/', 'node_modules/', 'bench/results/'] }),
  {
    plugins: { '@stylistic': plugins['@stylistic'] },
    rules: { '@stylistic/max-len': ['error', maxLen] }
  },
  {
    files: ['src/**'],
    plugins: { 'plain-english': plainEnglish },
    rules: {
      'plain-english/names': 'error',
      'plain-english/comments': 'error',
      'no-restricted-syntax': ['error', assignedAfterAwait]
    }
  },
  // Tests hold texts of catalogs, whose lines are data.
  {
    files: ['test/**'],
    rules: { '@stylistic/max-len': ['error', { ...maxLen, ignoreTemplateLiterals: true }] }
  }
]
