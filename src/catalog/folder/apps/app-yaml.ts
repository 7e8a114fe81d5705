// Reads app.yaml: what lists say of a screen, who may see it, and what it needs of its host.

import { quote } from '../../../base/words.ts'
import { isSource, type AppResourceMeta } from '../../../platform/protocol/apps.ts'
import type { Static } from '../../../platform/schema/type.ts'
import { appSettings } from '../../compiled/definitions/definition-shapes.ts'
import { createSettingsCheck } from '../settings-reader.ts'
import { columnOf, placeOf, ruleOf } from '../error-problem.ts'
import { parsePlacedYaml } from '../yaml.ts'
import type { ReportApp } from './app-files.ts'

export const APP_FILE = 'app.yaml'
export const MAX_APP_YAML_BYTES = 65_536

export type AppSettings = Static<typeof appSettings>

const findProblems = createSettingsCheck(appSettings)

/** `undefined` if a problem was reported. */
export function readAppYaml (text: string, report: ReportApp): AppSettings | undefined {
  try {
    const { data, lineOf } = parsePlacedYaml(text)
    const tell = (problems: readonly string[]) => {
      for (const problem of problems) {
        const [, path = ''] = /^([\w.[\]]+): /.exec(problem) ?? []
        report(APP_FILE, { line: lineOf(path) }, problem)
      }
    }
    if (!isAccepted(data)) {
      tell(findProblems(data))
      return undefined
    }
    const problems = [...findOriginProblems(data)]
    tell(problems)
    return problems.length === 0 ? data : undefined
  } catch (error) {
    const line = Number(/\d+/.exec(placeOf(error, APP_FILE))?.[0])
    report(APP_FILE, Number.isNaN(line) ? undefined : { line, ...columnOf(error) }, ruleOf(error))
    return undefined
  }
}

function isAccepted (data: unknown): data is AppSettings {
  return findProblems(data).length === 0
}

function * findOriginProblems ({ csp = {}, cache, scopes = [] }: AppSettings): Generator<string> {
  for (const [list, origins] of Object.entries(csp)) {
    for (const [index, origin] of origins.entries()) {
      if (isSource(list, origin)) continue
      const orData = list === 'resourceDomains' ? ', or data:' : ''
      yield `csp.${list}[${index}]: must be an origin such as https://api.example.com or ` +
        `https://*.example.com, without a path${orData}, got ${quote(origin)}`
    }
  }
  if (cache?.cacheScope === 'public' && scopes.length > 0) {
    yield 'cache.cacheScope: cannot be public, because scopes decide who may read this'
  }
}

/** `undefined` if app.yaml says nothing to hosts. */
export function toResourceMeta (
  { csp, permissions, domain, prefersBorder }: AppSettings
): AppResourceMeta | undefined {
  const meta: AppResourceMeta = {
    ...(csp !== undefined && { csp }),
    ...(permissions !== undefined && {
      permissions: Object.fromEntries(permissions.map((name) => [name, {}]))
    }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder })
  }
  return Object.keys(meta).length === 0 ? undefined : meta
}
