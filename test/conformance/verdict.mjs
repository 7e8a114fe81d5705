// Makes the verdicts of one run from the checks of the suite and the exceptions of the run.

/**
 * @typedef {import('./suite.mjs').Check} Check
 * @typedef {{ failures: { [scenario: string]: string }, warnings: { [scenarioAndCheck: string]: string } }}
 *   Exceptions the reason why a scenario is expected to fail, or a check, named as `scenario/check`, to warn
 * @typedef {{ scenario: string, outcome: 'pass' | 'fail' | 'expected failure', reason?: string, problems:
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
    const problems = results.has(scenario) ? problemsOf(results.get(scenario)) : ['was not run']
    const warned = judgeWarnings(scenario, results.get(scenario) ?? [], warnings)
    const { outcome, ...verdict } = judgeFailure(
      problems, failures[scenario], results.has(scenario), neverExcepted.includes(scenario)
    )
    return warned.problems.length === 0
      ? { scenario, outcome, ...verdict, warnings: warned.expected }
      : { scenario, ...fail(...verdict.problems, ...warned.problems), warnings: warned.expected }
  })
  return results.size >= minScenarios
    ? verdicts
    : [...verdicts, failedRun(`${results.size} scenarios were run, fewer than ${minScenarios}`)]
}

/**
 * The verdict of a run that failed outside any scenario.
 *
 * @param {string} problem
 * @returns {Verdict}
 */
export function failedRun (problem) {
  return { scenario: 'the run as a whole', warnings: [], ...fail(problem) }
}

/** Empty for a scenario that passes. */
function problemsOf (checks) {
  if (checks === undefined) return ['broke off before its end; the suite printed why']
  const failures = checks.filter(({ status }) => status === 'FAILURE').map(toText)
  return failures.length > 0 || checks.some(isEvidence)
    ? failures
    : ['checked nothing: all of it was skipped']
}

/** The check of the messages' form is no evidence: it also succeeds without any message. */
function isEvidence ({ id, status }) {
  return id !== 'wire-schema-valid' && (status === 'SUCCESS' || status === 'WARNING')
}

function judgeFailure (problems, reason, wasRun, isNeverExcepted) {
  if (reason === undefined) return { outcome: problems.length === 0 ? 'pass' : 'fail', problems }
  if (!wasRun) return fail('was not run, but is expected to fail: remove its line from exceptions.json')
  if (problems.length === 0) {
    return fail('passes, but is expected to fail: remove its line from exceptions.json')
  }
  if (isNeverExcepted) return fail('may not be excepted: remove its line from exceptions.json', ...problems)
  return { outcome: 'expected failure', reason, problems: [] }
}

/** Each warning must have a reason in the exceptions, and each reason a warning. */
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
    problems: [
      ...unexplained.map((check) => `warns, which exceptions.json does not explain: ${toText(check)}`),
      ...gone.map((name) => `${name} does not warn, but is expected to: remove its line from exceptions.json`)
    ]
  }
}

const fail = (...problems) => ({ outcome: 'fail', problems })

function toText ({ id, description, errorMessage, details = {} }) {
  const more = Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details).slice(0, 1000)}`
  return `${id}: ${errorMessage ?? description}${more}`
}
