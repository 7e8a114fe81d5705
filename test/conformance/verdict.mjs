// From what the suite found and the file of exceptions to a verdict. Pure.

/** However the suite counts them, these have to pass: no exception is granted. */
const NEVER_EXCEPTED = ['http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12']
const MIN_SCENARIOS = 30

/**
 * @typedef {import('./suite.mjs').Check} Check
 * @typedef {{ scenario: string, outcome: 'pass' | 'fail' | 'expected failure', reason?: string, complaints: string[], warnings: string[] }} Verdict
 */

/**
 * One verdict for each scenario that was run, should have been run, or has an exception.
 *
 * @param {string[]} required the scenarios that the suite must have run
 * @param {Map<string, Check[] | undefined>} results
 * @param {{ [scenario: string]: string }} exceptions the reason why a scenario is expected to fail
 * @returns {Verdict[]}
 */
export function judge (required, results, exceptions) {
  const scenarios = new Set([...required, ...NEVER_EXCEPTED, ...results.keys(), ...Object.keys(exceptions)])
  const verdicts = [...scenarios].map((scenario) => {
    const checks = results.get(scenario) ?? []
    const complaints = results.has(scenario) ? complaintsOf(results.get(scenario)) : ['was not run']
    const warnings = checks.filter(({ status }) => status === 'WARNING').map(toText)
    return { scenario, warnings, ...outcome(scenario, complaints, exceptions[scenario], results.has(scenario)) }
  })
  return [...verdicts, ...tooFew(results.size)]
}

/** Nothing, where the scenario passes. */
function complaintsOf (checks) {
  if (checks === undefined) return ['broke off before its end; the suite printed why']
  const failures = checks.filter(({ status }) => status === 'FAILURE').map(toText)
  return failures.length > 0 || checks.some(isEvidence) ? failures : ['checked nothing: all of it was skipped']
}

/** The check of the messages' form succeeds even where there were none. */
function isEvidence ({ id, status }) {
  return id !== 'wire-schema-valid' && (status === 'SUCCESS' || status === 'WARNING')
}

function outcome (scenario, complaints, reason, wasRun) {
  if (reason === undefined) return { outcome: complaints.length === 0 ? 'pass' : 'fail', complaints }
  if (!wasRun) return fail('was not run, but is expected to fail: remove its line from expected-failures.json')
  if (complaints.length === 0) return fail('passes, but is expected to fail: remove its line from expected-failures.json')
  if (NEVER_EXCEPTED.includes(scenario)) return fail('may not be excepted: remove its line from expected-failures.json', ...complaints)
  return { outcome: 'expected failure', reason, complaints: [] }
}

const fail = (...complaints) => ({ outcome: 'fail', complaints })

function tooFew (seen) {
  if (seen >= MIN_SCENARIOS) return []
  return [{ scenario: 'the run as a whole', warnings: [], ...fail(`${seen} scenarios were run, fewer than ${MIN_SCENARIOS}`) }]
}

function toText ({ id, description, errorMessage, details = {} }) {
  const more = Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details).slice(0, 1000)}`
  return `${id}: ${errorMessage ?? description}${more}`
}
