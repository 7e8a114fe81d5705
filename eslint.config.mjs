import neostandard, { plugins } from 'neostandard'

export default [
  ...neostandard({ ts: true, ignores: ['dist/', '.tap/', 'node_modules/', 'bench/results/'] }),
  {
    plugins: { '@stylistic': plugins['@stylistic'] },
    rules: { '@stylistic/max-len': ['error', { code: 110, ignoreUrls: true }] }
  }
]
