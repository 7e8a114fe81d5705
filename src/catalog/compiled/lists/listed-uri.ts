// Makes the URI of a listed resource, and checks that its template reads that URI as the author wrote it: a
// client must be able to read each resource that it was shown.

import type { ListedResource, TemplateVariables } from '../../../platform/author/define-resource.ts'
import { quote } from '../../../base/words.ts'
import { preview } from '../../../platform/schema/value-preview.ts'
import { readResourceUri } from '../definitions/compile-resource.ts'
import type { ReportProblem } from '../problem.ts'
import type { UriTemplate } from '../resources/uri-template.ts'
import { toPrefix, type Value } from '../resources/variable-values.ts'

/** Returns `undefined` when the entry has a problem. Every problem has then been reported. */
export function readListedUri (
  entry: ListedResource, template: UriTemplate, report: ReportProblem
): string | undefined {
  if ('variables' in entry) return expandVariables(entry.variables, template, report)
  const uri = readResourceUri(entry.uri, report)
  if (uri === undefined || template.match(uri) !== undefined) return uri
  report('uri', `must be a URI of the template ${template.text}, got ${quote(entry.uri)}`)
  return undefined
}

function expandVariables (
  variables: TemplateVariables, template: UriTemplate, report: ReportProblem
): string | undefined {
  const values = readValues(variables, template, report)
  const uri = values && expand(values, template, report)
  if (values === undefined || uri === undefined) return undefined
  const match = template.match(uri)
  if (match === undefined) {
    report('variables', `make ${quote(uri)}, which is no URI of the template ${template.text}`)
    return undefined
  }
  for (const [name, value] of values) {
    const expected = toPrefix(value, template.places.get(name)?.maxLength)
    if (JSON.stringify(expected) === JSON.stringify(match[name])) continue
    const actual = `the template reads ${preview(match[name])} from ${quote(uri)}`
    report(`variables.${name}`, `cannot be ${preview(value)}: ${actual}`)
    return undefined
  }
  return uri
}

function readValues (
  variables: TemplateVariables, { places }: UriTemplate, report: ReportProblem
): ReadonlyMap<string, Value> | undefined {
  const values = new Map<string, Value>()
  let isValid = true
  const refuse = (name: string, rule: string) => {
    isValid = false
    report(`variables.${name}`, rule)
  }
  for (const [name, value] of Object.entries(variables)) {
    const place = places.get(name)
    if (place === undefined) refuse(name, 'names no variable of the uriTemplate')
    // The variable is left out, as in the variables of a read.
    else if (value === undefined) continue
    else if (!place.explode) {
      if (typeof value === 'string') values.set(name, value)
      else refuse(name, `must be a string, got ${preview(value)}`)
    // RFC 6570 expands a text as a list of one.
    } else if (typeof value === 'string') values.set(name, [value])
    else if (isTexts(value)) values.set(name, [...value])
    else refuse(name, `must be a list of strings, got ${preview(value)}`)
  }
  return isValid ? values : undefined
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

function expand (
  values: ReadonlyMap<string, Value>, template: UriTemplate, report: ReportProblem
): string | undefined {
  try {
    return readResourceUri(template.expand(Object.fromEntries(values)), report)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    report('variables', 'must be well-formed text: half of a surrogate pair has no encoding')
    return undefined
  }
}
