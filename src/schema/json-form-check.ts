// The check of values of any kind that become JSON.

import { accepted, refused, type Check, type Verdict } from './check.ts'
import { findJsonLoss, isPlainJson } from './json-form.ts'

/**
 * The check of values that must be JSON. It accepts a value with a JSON form of its own, such as a Date, if
 * the schema accepts that form. The accepted value is plain JSON.
 * @param readsForm whether the schema is about the JSON form. Else it may be about the value, as schemas of
 * libraries are: only a value that they refuse is checked again in its JSON form.
 */
export function checkJsonForm (check: Check, readsForm: boolean): Check {
  const checkForm = (value: unknown): Verdict | Promise<Verdict> => {
    const loss = findJsonLoss(value)
    return loss === undefined ? check(toForm(value)) : refused([loss])
  }
  const toPlain = (given: unknown, verdict: Verdict): Verdict | Promise<Verdict> => {
    if (!verdict.ok) return isChecked(given) ? verdict : checkForm(given)
    if (isPlainJson(verdict.value)) return verdict
    const loss = findJsonLoss(verdict.value)
    return loss === undefined ? accepted(toForm(verdict.value)) : refused([loss])
  }
  if (readsForm) return (value) => isChecked(value) ? check(value) : checkForm(value)
  return (value) => {
    const verdict = check(value)
    return verdict instanceof Promise
      ? verdict.then(async (settled) => await toPlain(value, settled))
      : toPlain(value, verdict)
  }
}

/** Whether `check` itself says all that is wrong with the value. It does so of a missing one. */
const isChecked = (value: unknown) => value === undefined || isPlainJson(value)

/** @param value a value that JSON represents. */
function toForm (value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
