// From what a source delivered to a snapshot: all of it, or every reason why not.

import type { ReportProblem, Problem } from './problem.ts'
import { CatalogError } from './problem.ts'
import type { CatalogContents, Located } from './contents.ts'
import { compileHandle, describeLifetime } from './compile-handle.ts'
import { compilePrompt } from './compile-prompt.ts'
import { compileResource, compileTemplate, listTemplate } from './compile-resource.ts'
import { compileTool } from './compile-tool.ts'
import type { HandleKind } from '../state/handle-kind.ts'
import { createSchemaCompiler } from '../schema/json-schema.ts'
import { compareListOrder, type CompiledPrimitive } from './compiled-primitive.ts'
import { createSnapshot, type Snapshot, type SnapshotOptions } from './snapshot.ts'

/** Throws a CatalogError with every problem. */
export async function compileCatalog (
  contents: CatalogContents, options: SnapshotOptions
): Promise<Snapshot> {
  const problems: Problem[] = [...contents.problems]
  const reporterOf = ({ file, place }: Located<unknown>): ReportProblem => (within, rule) =>
    problems.push({ file, place: [place, within].filter((part) => part !== '').join('.'), rule })
  const compilers = {
    input: createSchemaCompiler({ useDefaults: true }), output: createSchemaCompiler({ useDefaults: false })
  }
  const { readTtlMs } = contents.server

  const handles = compileAll(
    contents.handles, reporterOf, (definition, report) => compileHandle(definition, compilers, report)
  )
  const remarks = remarksOnTools(handles)
  const tools = compileAll(
    contents.tools, reporterOf,
    (definition, report) => compileTool(definition, compilers, report, remarks.get(definition.name))
  )
  const prompts = compileAll(contents.prompts, reporterOf, compilePrompt)
  const resources = compileAll(
    contents.resources, reporterOf, (definition, report) => compileResource(definition, readTtlMs, report)
  )
  const templates = compileAll(
    contents.templates, reporterOf, (definition, report) => compileTemplate(definition, readTtlMs, report)
  )

  const listed: Array<Compiled<CompiledPrimitive>> = [...resources]
  for (const { compiled, located } of templates) {
    const report = reporterOf(located)
    try {
      for (const offered of await listTemplate(located.definition, compiled.template, report)) {
        listed.push({ compiled: offered, located })
      }
    } catch (error) {
      report('list', `failed: ${messageOf(error)}`)
    }
  }

  for (const { compiled: { createdBy }, located } of handles) {
    if (createdBy === undefined || contents.tools.some(({ definition }) => definition.name === createdBy)) {
      continue
    }
    reporterOf(located)('createdBy', `names the tool ${JSON.stringify(createdBy)}, which there is not`)
  }
  const keyedHandles = handles.map(({ compiled, located }) => ({ compiled: { key: compiled.kind }, located }))
  for (
    const [kind, all] of [
      ['handle', keyedHandles], ['tool', tools], ['prompt', prompts], ['resource', listed],
      ['resource template', templates]
    ] as const
  ) {
    for (const { first, second } of duplicates(all)) {
      reporterOf(second.located)(
        '', `the ${kind} ${JSON.stringify(second.compiled.key)} is already defined in ${first.located.file}`
      )
    }
  }
  if (problems.length > 0) throw new CatalogError(problems)

  return createSnapshot(contents.server, {
    tools: inOrder(tools), prompts: inOrder(prompts), resources: inOrder(resources), templates: inOrder(templates), listed: inOrder(listed)
  }, new Map(
    handles.map(({ compiled, located }) => [located.definition, compiled])
  ), contents.stamps, options)
}

/** What the descriptions of the tools that make handles say of them. */
function remarksOnTools (handles: ReadonlyArray<Compiled<HandleKind>>): Map<string, string> {
  const remarks = new Map<string, string>()
  for (const { compiled } of handles) {
    if (compiled.createdBy === undefined) continue
    const earlier = remarks.get(compiled.createdBy)
    remarks.set(
      compiled.createdBy, [...earlier === undefined ? [] : [earlier], describeLifetime(compiled)].join(' ')
    )
  }
  return remarks
}

type Keyed = Compiled<{ readonly key: string }>

interface Compiled<C, D = unknown> { readonly compiled: C, readonly located: Located<D> }

function compileAll<D, C> (
  all: ReadonlyArray<Located<D>>, reporterOf: (one: Located<D>) => ReportProblem, compile: (
    definition: D, report: ReportProblem
  ) => C | undefined
): Array<Compiled<C, D>> {
  return all.flatMap((located) => {
    const report = reporterOf(located)
    try {
      const compiled = compile(located.definition, report)
      return compiled === undefined ? [] : [{ compiled, located }]
    } catch (error) {
      // What a definition holds is the author's: a value that is no JSON must not hide the problems about the
      // others.
      report('', `cannot be compiled: ${messageOf(error)}`)
      return []
    }
  })
}

function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function inOrder<C extends CompiledPrimitive> (all: ReadonlyArray<Compiled<C>>): C[] {
  return all.map(({ compiled }) => compiled).toSorted(compareListOrder)
}

function duplicates (all: readonly Keyed[]): Array<{ first: Keyed, second: Keyed }> {
  const seen = new Map<string, Keyed>()
  return all.flatMap((second) => {
    const first = seen.get(second.compiled.key)
    if (first === undefined) seen.set(second.compiled.key, second)
    return first === undefined ? [] : [{ first, second }]
  })
}
