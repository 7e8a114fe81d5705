// The entries of `resources/list` that resource templates list themselves.

import type { ListedResource, ResourceTemplateDefinition } from '../authoring/define-resource.ts'
import { toCompiledPrimitive, type CompiledPrimitive } from './compiled-primitive.ts'
import { readResourceUri, toResourceEntry, type CompiledTemplate } from './compile-resource.ts'
import { listedResourceShape } from './definition-shapes.ts'
import type { ReportProblem } from './problem.ts'

interface ListingTemplate {
  readonly definition: ResourceTemplateDefinition
  readonly compiled: CompiledTemplate
  readonly report: ReportProblem
}

/**
 * For each template the entries that its `list` returns. All are called at the same time, so that several
 * that never end delay the load by one deadline.
 */
export async function listTemplates (
  templates: readonly ListingTemplate[], deadlineMs: number
): Promise<CompiledPrimitive[][]> {
  const results = await Promise.allSettled(
    templates.map(async ({ definition }) => await callList(definition, deadlineMs))
  )
  return templates.map((template, index) => {
    const result = results[index]
    try {
      if (result?.status === 'fulfilled') return compileEntries(result.value, template)
      throw result?.reason
    } catch (error) {
      template.report('list', `failed: ${error instanceof Error ? error.message : String(error)}`)
      return []
    }
  })
}

async function callList (
  definition: ResourceTemplateDefinition, deadlineMs: number
): Promise<readonly ListedResource[]> {
  if (definition.list === undefined) return []
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const problem = `it did not end within ${deadlineMs / 1000} s; it may wait for something that never comes`
    timer = setTimeout(() => reject(new Error(problem)), deadlineMs)
  })
  try {
    return await Promise.race([definition.list(), late])
  } finally {
    clearTimeout(timer)
  }
}

function compileEntries (
  listed: readonly ListedResource[], { definition, compiled: { template }, report }: ListingTemplate
): CompiledPrimitive[] {
  return listed.flatMap((entry, index) => {
    const verdict = listedResourceShape(entry)
    const problems = verdict.ok ? [] : [...verdict.problems]
    if (problems.length === 0 && ('uri' in entry) === ('variables' in entry)) {
      problems.push('must have either uri or variables')
    }
    const place = `list()[${index}]`
    for (const problem of problems) report(place, problem)
    if (problems.length > 0) return []
    const text = 'uri' in entry ? entry.uri : template.expand(entry.variables)
    const uri = readResourceUri(text, (within, rule) => report(`${place}.${within}`, rule))
    if (uri === undefined) return []
    const defaults = definition.mimeType === undefined ? {} : { mimeType: definition.mimeType }
    return [toCompiledPrimitive(uri, definition, toResourceEntry(uri, { ...defaults, ...entry }))]
  })
}
