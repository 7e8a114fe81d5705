// What is wrong with a catalog, and its forms: text for people, JSON, and the Static Analysis Results
// Interchange Format, which code hosts show beside the lines.

import { counted } from '../base/words.ts'
import type { CatalogAdvice } from '../catalog/advice/piece.ts'
import type { SettingFacts } from '../catalog/compiled/definitions/compile-settings.ts'
import { lineNumberOf, type Problem } from '../catalog/compiled/problem.ts'
import { toJsonText } from './command.ts'

/**
 * What is wrong with a catalog, and the settings that it needs. A catalog with problems gets no advice, and
 * its settings are not listed: it has not loaded.
 */
export interface Findings {
  readonly problems: readonly Problem[]
  readonly advice: readonly CatalogAdvice[]
  readonly settings: readonly SettingFacts[]
}

export type Format = 'text' | 'json' | 'sarif'

/** Each writes the findings in one format. */
export const WRITERS: { readonly [format in Format]: (findings: Findings, version: string) => string } = {
  text: ({ problems, advice, settings }) => {
    const lines = [
      ...settings.map(toSettingLine),
      ...problems.map((problem) => `${toPlace(problem)}: ${problem.rule}`),
      ...advice.map((one) => `${toPlace(one)}: advice: ${one.rule} (${one.name})`)
    ]
    const pieces = counted(advice.length, 'piece of advice', 'pieces of advice')
    return [...lines, `${counted(problems.length, 'problem')}, ${pieces}`, ''].join('\n')
  },
  json: toJsonText,
  sarif: (findings, version) => toJsonText(toSarif(findings, version))
}

function toSettingLine ({ name, isSet, isSecret, isRequired, description }: SettingFacts): string {
  const facts = [isRequired ? 'required' : 'optional', isSecret && 'secret', isSet ? 'set' : 'not set']
  return [`setting ${name}: ${facts.filter((fact) => fact !== false).join(', ')}`, description]
    .filter((part) => part !== undefined).join('. ')
}

/** `tools/a.ts:6`, which editors and terminals turn into a link, or `tools/a.ts: inputSchema`. */
function toPlace (finding: Pick<Finding, 'file' | 'place'>): string {
  const { file, place } = finding
  const line = lineNumberOf(finding)
  if (line !== undefined) return `${file}:${line}`
  return place === '' ? file : `${file}: ${place}`
}

interface Finding { readonly file: string, readonly place: string, readonly rule: string }

const PROBLEM = 'problem'

/** https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html */
function toSarif ({ problems, advice }: Findings, version: string): object {
  const rules = [...new Set([PROBLEM, ...advice.map(({ name }) => name)])]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'trivet', version, rules: rules.map((id) => ({ id })) } },
      results: [
        ...problems.map((problem) => toResult(problem, PROBLEM, 'error')),
        ...advice.map((one) => toResult(one, one.name, 'note'))
      ]
    }]
  }
}

function toResult (finding: Finding, ruleId: string, level: 'error' | 'note'): object {
  const { file, place, rule } = finding
  const line = lineNumberOf(finding)
  const uri = file.split('/').map(encodeURIComponent).join('/')
  return {
    ruleId,
    level,
    message: { text: line !== undefined || place === '' ? rule : `${place}: ${rule}` },
    locations: [{
      physicalLocation: {
        artifactLocation: { uri }, ...(line !== undefined && { region: { startLine: line } })
      }
    }]
  }
}
