// `npm run conformance`: runs the official suite against the built service and the fixture catalog, once for
// each revision.

import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RUNS } from './runs.mjs'
import { startService } from './service.mjs'
import { readResults, readScenarios, runSuite } from './suite.mjs'
import { failedRun, judge } from './verdict.mjs'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const CATALOG = fileURLToPath(new URL('./catalog', import.meta.url))
const EXCEPTIONS = new URL('./exceptions.json', import.meta.url)

/**
 * Runs the suite over a copy of the catalog, because tools of the fixture change the folder that they are in.
 */
async function runOne (run, exceptions, folder) {
  const catalog = join(folder, 'catalog')
  const resultsFolder = join(folder, 'results')
  await cp(CATALOG, catalog, { recursive: true })
  await mkdir(resultsFolder)

  const service = await startService(MAIN, catalog)
  try {
    await runSuite(run, service.url, resultsFolder)
  } finally {
    await service.stop()
  }
  return {
    verdicts: judge(run, await readScenarios(run), await readResults(resultsFolder), exceptions),
    output: service.output()
  }
}

/** A run that throws has failed. The other runs still take place. */
async function runAll (folder) {
  const exceptions = JSON.parse(await readFile(EXCEPTIONS, 'utf8'))
  const verdicts = Object.keys(exceptions).filter(
    (revision) => RUNS.every((run) => run.revision !== revision)
  )
    .map((revision) => failedRun(`exceptions.json has a section for ${revision}, which is not run`))
  report(verdicts, '')
  for (const run of RUNS) {
    console.log(`\n${run.revision}`)
    const done = await runOne(
      run, exceptions[run.revision] ?? { failures: {}, warnings: {} }, join(folder, run.revision)
    ).catch((error) => {
      console.error(error)
      return { verdicts: [failedRun(`broke off: ${error.message}`)], output: '' }
    })
    report(done.verdicts, done.output)
    verdicts.push(...done.verdicts)
  }
  return verdicts
}

/** @param {import('./verdict.mjs').Verdict[]} verdicts */
function report (verdicts, serviceOutput) {
  for (const { scenario, outcome, reason, problems, warnings } of verdicts) {
    console.log(`${outcome.padEnd(16)}  ${scenario}${reason === undefined ? '' : `: ${reason}`}`)
    for (const problem of problems) console.log(`                    ${problem}`)
    for (const warning of warnings) console.log(`                    expected warning: ${warning}`)
  }
  if (count(verdicts, 'fail') > 0 && serviceOutput !== '') {
    console.log(`\nThe service printed:\n${serviceOutput}`)
  }
}

function count (verdicts, wanted) {
  return verdicts.filter(({ outcome }) => outcome === wanted).length
}

const folder = await mkdtemp(join(tmpdir(), 'trivet-conformance-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
// A signal must also run the clean-up of this process.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

try {
  const verdicts = await runAll(folder)
  const warnings = verdicts.reduce((sum, verdict) => sum + verdict.warnings.length, 0)
  console.log(
    `\nexpected failures: ${count(verdicts, 'expected failure')}, expected warnings: ${warnings}, ` +
      'see test/conformance/exceptions.json'
  )
  console.log(`conformance: ${count(verdicts, 'pass')} passed, ${count(verdicts, 'fail')} failed`)
  process.exitCode = count(verdicts, 'fail') === 0 ? 0 : 1
} catch (error) {
  console.error(error)
  console.log('conformance: the run broke off')
  process.exitCode = 1
}
