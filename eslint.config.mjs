import neostandard from 'neostandard'

export default neostandard({
  ts: true,
  ignores: ['dist/', '.tap/', 'node_modules/', 'bench/results/']
})
