// Checks that the apps that tools name exist, and that whoever sees a tool may read its app.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolDefinition } from '../../../author/define-tool.ts'
import { createNearestNames } from '../../../base/nearest-names.ts'
import type { CatalogApp, Located } from '../../compiled/contents.ts'
import type { Problem } from '../../compiled/problem.ts'
import type { ScopeHierarchy } from '../../compiled/scopes/scope-hierarchy.ts'

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
    const line = await findLine(join(root, file), ui)
    problems.push({
      file, place: line === undefined ? 'ui' : `line ${line}`, rule: `the tool ${String(name)} ${rule}`
    })
  }
  return problems

  function ruleOf (ui: string, scopes: readonly string[]): string | undefined {
    const app = apps.get(ui)
    if (app === undefined) {
      const [likely] = nearest(ui, () => true)
      const advice = likely === undefined ? `make apps/${ui}/index.html` : `did you mean ${likely}?`
      return `shows the app ${JSON.stringify(ui)}, which does not exist: ${advice}`
    }
    const held = new Set(scopes.flatMap((scope) => [scope, ...hierarchy.get(scope) ?? []]))
    const lacking = app.scopes.filter((scope) => !held.has(scope))
    return lacking.length === 0
      ? undefined
      : `shows the app ${ui}, which needs the scope ${lacking.join(' ')}: add it to the scopes of the tool`
  }
}

/** The line that names the app. `undefined` if the name is computed, or from another file. */
async function findLine (path: string, ui: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const quoted = ['\'', '"', '`'].map((quote) => `${quote}${ui}${quote}`)
  const found = text.split('\n').findIndex(
    (line) => /\bui["']?\s*:/.test(line) && quoted.some((one) => line.includes(one))
  )
  return found === -1 ? undefined : found + 1
}
