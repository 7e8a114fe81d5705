// Findings in the Static Analysis Results Interchange Format, which code hosts show beside the lines.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

import { lineNumberOf } from '../catalog/compiled/problem.ts'
import type { Findings } from './findings.ts'

interface Finding { readonly file: string, readonly place: string, readonly rule: string }

const PROBLEM = 'problem'

export function toSarif ({ problems, advice }: Findings, version: string): object {
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
