// Compiles the contents of a source to a snapshot. One problem is enough to refuse the whole catalog.

import type { ResourceDefinition } from '../../author/define-resource.ts'
import { messageOf } from '../../base/words.ts'
import type { HandleKind } from '../../store/records/handle-kind.ts'
import { toCatalogVersion } from './catalog-version.ts'
import {
  compareListOrder, findDuplicates, type Compiled, type CompiledPrimitive
} from './compiled-primitive.ts'
import type { CatalogContents, Located } from './contents.ts'
import { compileDependency } from './definitions/compile-dependency.ts'
import { compileHandle, describeLifetime } from './definitions/compile-handle.ts'
import { compilePrompt } from './definitions/compile-prompt.ts'
import { compileResource, compileTemplate } from './definitions/compile-resource.ts'
import { createSchemaCompilers, type SchemaCompilers } from './definitions/compile-schema.ts'
import { compileSettings, type ReadSetting } from './definitions/compile-settings.ts'
import { compileSkill } from './definitions/compile-skill.ts'
import { compileTool, type CompiledTool } from './definitions/compile-tool.ts'
import { createKnownDefinitions, type KnownDefinitions } from './definitions/known-definitions.ts'
import type { OpeningDependency } from './dependencies/dependency-opener.ts'
import type { DependencySet } from './dependencies/dependency-set.ts'
import { locateEntries, makeListings, type ListingOptions } from './lists/listings.ts'
import { CatalogError, createReporter, type Problem, type ReportProblem } from './problem.ts'
import { compileHierarchy } from './scopes/scope-hierarchy.ts'
import { createSnapshot, type Snapshot, type SnapshotOptions } from './snapshot.ts'

export interface CatalogCompiler {
  /** Rejects with a CatalogError that has every problem of the catalog. */
  compile (contents: CatalogContents): Promise<Snapshot>
}

/** `yieldToRequests` is called between definitions too. */
export interface CatalogCompilerOptions extends SnapshotOptions, ListingOptions {
  /** No setting is set by default. */
  readonly readSetting?: ReadSetting
  /**
   * Opens the dependencies of a catalog without problems. By default none is opened, and required settings
   * may be missing: no handler of the snapshot can then be called.
   */
  readonly openDependencies?: (all: readonly OpeningDependency[]) => Promise<DependencySet | undefined>
}

/** Compiles a catalog each time that it is loaded. What has not changed is not compiled again. */
export function createCatalogCompiler (options: CatalogCompilerOptions): CatalogCompiler {
  const compilers = createSchemaCompilers()
  const knownTools = createKnownDefinitions<CompiledTool>(compilers)
  return {
    async compile (contents) {
      try {
        return await compileCatalog(contents, options, { compilers, knownTools })
      } finally {
        compilers.input.forgetUnused()
        compilers.output.forgetUnused()
      }
    }
  }
}

interface Dependencies {
  readonly compilers: SchemaCompilers
  readonly knownTools: KnownDefinitions<CompiledTool>
}

async function compileCatalog (
  contents: CatalogContents, options: CatalogCompilerOptions, { compilers, knownTools }: Dependencies
): Promise<Snapshot> {
  const {
    yieldToRequests = () => undefined, readSetting = async () => ({ text: undefined }), openDependencies
  } = options
  const problems: Problem[] = [...contents.problems]
  const reporterOf = (located: Located<unknown>): ReportProblem => createReporter(problems, located)
  const { readTtlMs } = contents.server

  async function compileAll<D, C> (
    all: ReadonlyArray<Located<D>>, compile: Compile<D, C>
  ): Promise<Array<Compiled<C, D>>> {
    const done: Array<Compiled<C, D>> = []
    for (const located of all) {
      const turn = yieldToRequests()
      if (turn !== undefined) await turn
      const compiled = compileOne(located, reporterOf(located), compile)
      if (compiled !== undefined) done.push({ compiled, located })
    }
    return done
  }

  const hierarchy = compileHierarchy(contents.server.scopes, reporterOf)
  const handles = await compileAll(
    contents.handles, ({ definition }, report) => compileHandle(definition, compilers, report)
  )
  const settings = await compileSettings(contents.settings, {
    compilers, readSetting, needsAll: openDependencies !== undefined, reporterOf
  })
  const dependencies = await compileAll(
    contents.dependencies, ({ definition }, report) => compileDependency(definition, settings, report)
  )
  const lifetimes = lifetimesByTool(handles)
  const tools = await compileAll(contents.tools, (located, report) => {
    const { definition } = located
    const lifetime = lifetimes.get(definition.name)
    const appUri = definition.ui === undefined ? undefined : contents.apps.get(definition.ui)?.uri
    return knownTools.get(definition, JSON.stringify([lifetime, appUri]), report, (used, tell) => {
      return compileTool(located, used, tell, { remark: lifetime, appUri })
    })
  })
  const prompts = await compileAll(contents.prompts, compilePrompt)
  const compileFixed = (located: Located<ResourceDefinition>, report: ReportProblem) =>
    compileResource(located, readTtlMs, report)
  const resources = await compileAll(contents.resources, compileFixed)
  const unlisted = await compileAll(contents.unlisted, compileFixed)
  const templates = await compileAll(
    contents.templates, (located, report) => compileTemplate(located, readTtlMs, report)
  )
  const skills = await compileAll(contents.skills, compileSkill)

  const listing = templates.filter(({ located: { definition } }) => definition.list !== undefined)
  const listings = (await makeListings(listing, problems, options)).filter((made) => made !== undefined)
  const listed: Array<Compiled<CompiledPrimitive>> = [...resources, ...locateEntries(listings)]

  const toolNames = new Set(contents.tools.map(({ definition }) => definition.name))
  for (const { compiled: { createdBy }, located } of handles) {
    if (createdBy === undefined || toolNames.has(createdBy)) continue
    reporterOf(located)('createdBy', `names the tool ${JSON.stringify(createdBy)}, which does not exist`)
  }
  const keyedHandles = handles.map(({ compiled, located }) => ({ compiled: { key: compiled.kind }, located }))
  const namedDependencies = dependencies.map(
    ({ compiled, located }) => ({ compiled: { key: compiled.name }, located })
  )
  problems.push(
    ...findDuplicates('handle', keyedHandles),
    ...findDuplicates('dependency', namedDependencies),
    ...findDuplicates('tool', tools),
    ...findDuplicates('prompt', prompts),
    ...findDuplicates('resource', [...unlisted, ...listed]),
    ...findDuplicates('resource template', templates),
    ...findDuplicates('skill', skills)
  )
  if (problems.length > 0) throw new CatalogError(problems)
  await yieldToRequests()

  const primitives = {
    tools: inOrder(tools),
    prompts: inOrder(prompts),
    resources: inOrder([...resources, ...unlisted]),
    templates: inOrder(templates),
    skills: inOrder(skills),
    listed: inOrder(listed)
  }
  const kinds = new Map(handles.map(({ compiled, located }) => [located.definition, compiled]))
  const { server, stamps, digest } = contents
  const version = toCatalogVersion({ server, primitives, hierarchy, digest })
  // Last, so that nothing is open when the catalog has a problem.
  const opened = dependencies.length === 0
    ? undefined
    : await openDependencies?.(
      dependencies.map(({ compiled, located }) => {
        const isUnchanged = contents.unchangedModules.has(located.file)
        return { compiled, isUnchanged, report: reporterOf(located) }
      })
    )
  if (problems.length > 0) throw new CatalogError(problems)
  const parts = {
    server,
    primitives,
    listings,
    handles: kinds,
    settings,
    dependencies: opened,
    stamps,
    hierarchy,
    digest,
    version
  }
  return createSnapshot(parts, options)
}

/** By tool: sentences for the tool's description about the lifetimes of the handles that it creates. */
function lifetimesByTool (handles: ReadonlyArray<Compiled<HandleKind>>): Map<string, string> {
  const sentences = new Map<string, string>()
  for (const { compiled } of handles) {
    if (compiled.createdBy === undefined) continue
    const earlier = sentences.get(compiled.createdBy)
    const sentence = describeLifetime(compiled)
    sentences.set(compiled.createdBy, earlier === undefined ? sentence : `${earlier} ${sentence}`)
  }
  return sentences
}

type Compile<D, C> = (located: Located<D>, report: ReportProblem) => C | undefined

function compileOne<D, C> (
  located: Located<D>, report: ReportProblem, compile: Compile<D, C>
): C | undefined {
  try {
    return compile(located, report)
  } catch (error) {
    // An author's value may throw, for example when it is not JSON. The problems of the other definitions
    // must still be reported.
    report('', `cannot be compiled: ${messageOf(error)}`)
    return undefined
  }
}

function inOrder<C extends CompiledPrimitive> (all: ReadonlyArray<Compiled<C>>): C[] {
  return all.map(({ compiled }) => compiled).toSorted(compareListOrder)
}
