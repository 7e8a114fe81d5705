import neostandard, { plugins } from 'neostandard'

const maxLen = { code: 110, ignoreUrls: true, ignoreRegExpLiterals: true }

export default [
  ...neostandard({ ts: true, ignores: ['dist/', '.tap/', 'node_modules/', 'bench/results/'] }),
  {
    plugins: { '@stylistic': plugins['@stylistic'] },
    rules: { '@stylistic/max-len': ['error', maxLen] }
  },
  // Tests hold texts of catalogs, whose lines are data.
  {
    files: ['test/**'],
    rules: { '@stylistic/max-len': ['error', { ...maxLen, ignoreTemplateLiterals: true }] }
  }
]
