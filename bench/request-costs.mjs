// What one request may cost: prints the rows of the tests of request costs as a table in Markdown. Each row
// is the cheapest of several runs. Run it with `npm run costs`.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TESTS = [
  'test/edges/http/request-cost.test.ts', 'test/edges/http/stateful-request-cost.test.ts',
  'test/edges/legacy/http/request-cost.test.ts'
]
const ROW = /^ *# (\| .* \|)$/gm

console.log('\n| Request | Status | CPU, ms | Bytes sent | Store reads | Store writes |')
console.log('| --- | --- | --- | --- | --- | --- |')
for (const test of TESTS) {
  const args = ['--import=./test/runner/register.mjs', test]
  const output = execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  for (const [, row] of output.matchAll(ROW)) console.log(row)
}
