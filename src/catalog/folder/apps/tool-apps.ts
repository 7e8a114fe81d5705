// Checks that the apps that tools name exist, and that whoever sees a tool may read its app.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolDefinition } from '../../../platform/author/define-tool.ts'
import { createNearestNames } from '../../../base/nearest-names.ts'
import { clip, quote } from '../../../base/words.ts'
import type { CatalogApp, Located } from '../../compiled/contents.ts'
import { findDefinitionLine, type Problem } from '../../compiled/problem.ts'
import type { ScopeHierarchy } from '../../compiled/scopes/scope-hierarchy.ts'

const UI_MEMBER = /\bui["']?\s*:/

export async function findAppProblems (
  root: string, tools: ReadonlyArray<Located<ToolDefinition>>, apps: ReadonlyMap<string, CatalogApp>,
  hierarchy: ScopeHierarchy
): Promise<Problem[]> {
  const nearest = createNearestNames(apps.keys())
  const problems: Problem[] = []
  for (const { definition, file } of tools) {
    const { name, ui, scopes = [] } = definition
    // The check of the definition says what other values are.
    if (typeof ui !== 'string' || !Array.isArray(scopes)) continue
    const rule = ruleOf(ui, scopes)
    if (rule === undefined) continue
    const text = await readFile(join(root, file), 'utf8').catch(() => '')
    const line = findDefinitionLine(text, ui, UI_MEMBER)
    problems.push({
      file, place: line === undefined ? 'ui' : `line ${line}`, rule: `the tool ${String(name)} ${rule}`
    })
  }
  return problems

  function ruleOf (ui: string, scopes: readonly string[]): string | undefined {
    const app = apps.get(ui)
    if (app === undefined) {
      const [likely] = nearest(ui, () => true)
      const advice = likely === undefined ? `make apps/${clip(ui)}/index.html` : `did you mean ${likely}?`
      return `shows the app ${quote(ui)}, which does not exist: ${advice}`
    }
    const grants = new Set(scopes.flatMap((scope) => [scope, ...hierarchy.get(scope) ?? []]))
    const lacking = app.scopes.filter((scope) => !grants.has(scope))
    return lacking.length === 0
      ? undefined
      : `shows the app ${ui}, which needs the scope ${lacking.join(' ')}: add it to the scopes of the tool`
  }
}
