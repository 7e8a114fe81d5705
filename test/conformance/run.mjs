// `npm run conformance`: the built service, over the fixture catalog, against the official suite.

import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startService } from './service.mjs'
import { readResults, readScenarios, runSuite } from './suite.mjs'
import { judge } from './verdict.mjs'

const REVISION = '2026-07-28'
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const CATALOG = fileURLToPath(new URL('./catalog', import.meta.url))
const EXCEPTIONS = new URL('./expected-failures.json', import.meta.url)

/** Runs the suite over a copy of the catalog, because tools of the fixture change the folder that they are in. */
async function run (folder) {
  const catalog = join(folder, 'catalog')
  const resultsFolder = join(folder, 'results')
  await cp(CATALOG, catalog, { recursive: true })
  await mkdir(resultsFolder)

  const service = await startService(MAIN, catalog)
  try {
    await runSuite(REVISION, service.url, resultsFolder)
  } finally {
    await service.stop()
  }

  const exceptions = JSON.parse(await readFile(EXCEPTIONS, 'utf8'))
  const verdicts = judge(await readScenarios(REVISION), await readResults(resultsFolder), exceptions)
  report(verdicts, service.output())
  return verdicts.every(({ outcome }) => outcome !== 'fail')
}

/** @param {import('./verdict.mjs').Verdict[]} verdicts */
function report (verdicts, serviceOutput) {
  const count = (wanted) => verdicts.filter(({ outcome }) => outcome === wanted).length
  for (const { scenario, outcome, reason, complaints, warnings } of verdicts) {
    console.log(`${outcome.padEnd(16)}  ${scenario}${reason === undefined ? '' : `: ${reason}`}`)
    for (const complaint of complaints) console.log(`                    ${complaint}`)
    for (const warning of warnings) console.log(`                    warning: ${warning}`)
  }
  if (count('fail') > 0) console.log(`\nThe service printed:\n${serviceOutput}`)
  console.log(`\nexpected failures: ${count('expected failure')}, see test/conformance/expected-failures.json`)
  console.log(`conformance: ${count('pass')} passed, ${count('fail')} failed`)
}

const folder = await mkdtemp(join(tmpdir(), 'trivet-conformance-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
// So that what hangs on the end of this process is cleared away when somebody stops it, too.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

try {
  process.exitCode = await run(folder) ? 0 : 1
} catch (error) {
  console.error(error)
  console.log('conformance: the run broke off')
  process.exitCode = 1
}
