// From what the suite found in one run, and the exceptions that the run has, to a verdict. Pure.

/**
 * @typedef {import('./suite.mjs').Check} Check
 * @typedef {{ failures: { [scenario: string]: string }, warnings: { [scenarioAndCheck: string]: string } }}
 *   Exceptions the reason why a scenario is expected to fail, or a check, named as `scenario/check`, to warn
 * @typedef {{ scenario: string, outcome: 'pass' | 'fail' | 'expected failure', reason?: string, complaints:
 *   string[], warnings: string[] }} Verdict `warnings`: the expected ones, each with its reason
 */

/**
 * One verdict for each scenario that was run, should have been run, or has an exception.
 *
 * @param {import('./runs.mjs').Run} run
 * @param {string[]} required the scenarios that the suite must have run
 * @param {Map<string, Check[] | undefined>} results
 * @param {Exceptions} exceptions
 * @returns {Verdict[]}
 */
export function judge ({ minScenarios, neverExcepted }, required, results, { failures, warnings }) {
  const excepted = [
    ...Object.keys(failures), ...Object.keys(warnings).map((name) => name.slice(0, name.indexOf('/')))
  ]
  const scenarios = new Set([...required, ...neverExcepted, ...results.keys(), ...excepted])
  const verdicts = [...scenarios].map((scenario) => {
    const complaints = results.has(scenario) ? complaintsOf(results.get(scenario)) : ['was not run']
    const warned = judgeWarnings(scenario, results.get(scenario) ?? [], warnings)
    const { outcome, ...verdict } = judgeFailure(
      complaints, failures[scenario], results.has(scenario), neverExcepted.includes(scenario)
    )
    return warned.complaints.length === 0
      ? { scenario, outcome, ...verdict, warnings: warned.expected }
      : { scenario, ...fail(...verdict.complaints, ...warned.complaints), warnings: warned.expected }
  })
  return results.size >= minScenarios
    ? verdicts
    : [...verdicts, failedRun(`${results.size} scenarios were run, fewer than ${minScenarios}`)]
}

/**
 * A failure that is none of a scenario's own.
 *
 * @param {string} complaint
 * @returns {Verdict}
 */
export function failedRun (complaint) {
  return { scenario: 'the run as a whole', warnings: [], ...fail(complaint) }
}

/** Nothing, where the scenario passes. */
function complaintsOf (checks) {
  if (checks === undefined) return ['broke off before its end; the suite printed why']
  const failures = checks.filter(({ status }) => status === 'FAILURE').map(toText)
  return failures.length > 0 || checks.some(isEvidence)
    ? failures
    : ['checked nothing: all of it was skipped']
}

/** The check of the messages' form succeeds even where there were none. */
function isEvidence ({ id, status }) {
  return id !== 'wire-schema-valid' && (status === 'SUCCESS' || status === 'WARNING')
}

function judgeFailure (complaints, reason, wasRun, isNeverExcepted) {
  if (reason === undefined) return { outcome: complaints.length === 0 ? 'pass' : 'fail', complaints }
  if (!wasRun) return fail('was not run, but is expected to fail: remove its line from exceptions.json')
  if (complaints.length === 0) {
    return fail('passes, but is expected to fail: remove its line from exceptions.json')
  }
  if (isNeverExcepted) return fail('may not be excepted: remove its line from exceptions.json', ...complaints)
  return { outcome: 'expected failure', reason, complaints: [] }
}

/** Each warning has its reason, and each reason its warning. */
function judgeWarnings (scenario, checks, reasons) {
  const warnings = checks.filter(({ status }) => status === 'WARNING')
  const nameOf = ({ id }) => `${scenario}/${id}`
  const unexplained = warnings.filter((check) => !(nameOf(check) in reasons))
  const gone = Object.keys(reasons).filter(
    (name) => name.startsWith(`${scenario}/`) && !warnings.some((check) => nameOf(check) === name)
  )
  return {
    expected: warnings.filter((check) => nameOf(check) in reasons).map(
      (check) => `${check.id}: ${reasons[nameOf(check)]}`
    ),
    complaints: [
      ...unexplained.map((check) => `warns, which exceptions.json does not explain: ${toText(check)}`),
      ...gone.map((name) => `${name} does not warn, but is expected to: remove its line from exceptions.json`)
    ]
  }
}

const fail = (...complaints) => ({ outcome: 'fail', complaints })

function toText ({ id, description, errorMessage, details = {} }) {
  const more = Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details).slice(0, 1000)}`
  return `${id}: ${errorMessage ?? description}${more}`
}
