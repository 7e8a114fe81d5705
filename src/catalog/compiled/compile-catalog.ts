// Compiles the contents of a catalog to a snapshot. One problem is enough to refuse the whole catalog.

import type { ResourceDefinition } from '../../platform/author/define-resource.ts'
import type { ToolDefinition } from '../../platform/author/define-tool.ts'
import { runInTurns, type Stepwise } from '../../base/turns.ts'
import { messageOf } from '../../base/words.ts'
import type { HandleKind } from '../../platform/store/records/handle-kind.ts'
import {
  type Compiled, type CompiledPrimitive, type CompiledTool, findDuplicates, inOrder
} from './compiled-primitive.ts'
import type { CatalogContents, Located } from './contents.ts'
import { compileDependency, type CompiledDependency } from './definitions/compile-dependency.ts'
import { compileHandle, describeLifetime } from './definitions/compile-handle.ts'
import { compilePrompt } from './definitions/compile-prompt.ts'
import { compileResource, compileTemplate } from './definitions/compile-resource.ts'
import { createSchemaCompilers, type SchemaCompilers } from './definitions/compile-schema.ts'
import { compileSettings, type ReadSetting } from './definitions/compile-settings.ts'
import { compileSkill } from './definitions/compile-skill.ts'
import { compileTool } from './definitions/compile-tool.ts'
import { compileContinueTool, CONTINUE_TOOL } from './definitions/continue-tool.ts'
import { createKnownDefinitions, type KnownDefinitions } from './definitions/known-definitions.ts'
import type { OpeningDependency } from './dependencies/dependency-opener.ts'
import type { DependencySet } from './dependencies/dependency-set.ts'
import { locateEntries, makeListings, type ListingOptions } from './lists/listings.ts'
import { CatalogError, createReporter, type Problem, type ReportProblem } from './problem.ts'
import { compileHierarchy } from './scopes/scope-hierarchy.ts'
import { createSnapshot, toCatalogVersion, type Snapshot, type SnapshotOptions } from './snapshot.ts'
import { toUpstreamFacts, type UpstreamCompiler } from './upstreams/upstream-dependency.ts'

/** `yieldToRequests` is called between definitions too. */
export interface CatalogCompilerOptions extends SnapshotOptions, ListingOptions {
  /** No setting is set by default. */
  readonly readSetting?: ReadSetting
  /**
   * Opens the dependencies of a catalog without problems. By default none is opened, and required settings
   * may be missing: no handler of the snapshot can then be called.
   */
  readonly openDependencies?: (all: readonly OpeningDependency[]) => Promise<DependencySet | undefined>
  /** Without it a catalog may define no upstream. */
  readonly compileUpstream?: UpstreamCompiler | undefined
  /** Whether calls can go on after their answer. True by default. Otherwise `task` of a tool does nothing. */
  readonly hasTasks?: boolean | undefined
  /** Compiles the tool that reads on in results. Returns `undefined` if none is cut. Absent: none ever is. */
  readonly compileReadMoreTool?: (
    tools: readonly CompiledTool[], limits: CatalogContents['server']['limits'], compilers: SchemaCompilers,
    report: ReportProblem
  ) => CompiledTool | undefined
}

/** Compiles a catalog each time that it is loaded. What has not changed is not compiled again. */
export class CatalogCompiler {
  readonly #options: CatalogCompilerOptions
  readonly #compilers = createSchemaCompilers()
  readonly #knownTools = createKnownDefinitions<CompiledTool>(this.#compilers)

  constructor (options: CatalogCompilerOptions) {
    this.#options = options
  }

  /** Rejects with a CatalogError that has every problem of the catalog. */
  async compile (contents: CatalogContents): Promise<Snapshot> {
    try {
      return await new Compilation(contents, this.#options, this.#compilers, this.#knownTools).run()
    } finally {
      this.#compilers.input.forgetUnused()
      this.#compilers.output.forgetUnused()
    }
  }
}

const refuseUpstream: UpstreamCompiler = (_definition, _settings, report) => {
  report('', 'is an upstream, and this service calls none')
  return undefined
}
const UNKNOWN_UPSTREAM = 'must be made by defineUpstream in a module of this catalog'

type Compile<L, C> = (located: L, report: ReportProblem) => C | undefined

/** One load. Collects the problems of all definitions. */
class Compilation {
  readonly #contents: CatalogContents
  readonly #options: CatalogCompilerOptions
  readonly #compilers: SchemaCompilers
  readonly #knownTools: KnownDefinitions<CompiledTool>
  readonly #problems: Problem[]

  constructor (
    contents: CatalogContents, options: CatalogCompilerOptions, compilers: SchemaCompilers,
    knownTools: KnownDefinitions<CompiledTool>
  ) {
    this.#contents = contents
    this.#options = options
    this.#compilers = compilers
    this.#knownTools = knownTools
    this.#problems = [...contents.problems]
  }

  async run (): Promise<Snapshot> {
    const { server, stamps, digest, ...contents } = this.#contents
    const {
      readSetting = async () => ({ text: undefined }), openDependencies, compileUpstream = refuseUpstream
    } = this.#options
    const hierarchy = compileHierarchy(server.scopes, this.#reporterOf)
    const handles = await this.#compileAll(
      contents.handles, ({ definition }, report) => compileHandle(definition, this.#compilers, report)
    )
    const settings = await compileSettings(contents.settings, {
      compilers: this.#compilers,
      readSetting,
      needsAll: openDependencies !== undefined,
      reporterOf: this.#reporterOf
    })
    const dependencies = await this.#compileAll(
      contents.dependencies, ({ definition }, report) => compileDependency(definition, settings, report)
    )
    const upstreams = await this.#compileAll(contents.upstreams, ({ definition }, report) => {
      return compileUpstream(definition, settings, report)
    })
    const tools = await this.#compileTools(handles)
    const ownTools = this.#compileOwnTools(tools)
    const prompts = await this.#compileAll(contents.prompts, compilePrompt)
    const toResource = (located: Located<ResourceDefinition>, report: ReportProblem) =>
      compileResource(located, server.readTtlMs, report)
    const resources = await this.#compileAll(contents.resources, toResource)
    const unlisted = await this.#compileAll(contents.unlisted, toResource)
    const templates = await this.#compileAll(
      contents.templates, (located, report) => compileTemplate(located, server.readTtlMs, report)
    )
    const skills = await this.#compileAll(contents.skills, compileSkill)
    const list = async (open: DependencySet | undefined) => (await makeListings(
      templates.filter(({ located: { definition } }) => definition.list !== undefined), this.#problems,
      { settings, dependencies: open, isComplete: openDependencies !== undefined }, this.#options
    )).filter((listing) => listing !== undefined)
    // Lists that use no dependency are made now, so that all problems are reported together.
    const isEarly = dependencies.length + upstreams.length === 0 || openDependencies === undefined
    const early = isEarly ? await list(undefined) : undefined
    this.#checkCreators(handles)
    this.#checkUpstreams()
    this.#problems.push(
      ...await this.#inTurns(findDuplicates('handle', handles, ({ kind }) => kind)),
      ...await this.#inTurns(findDuplicates('dependency', dependencies, ({ name }) => name)),
      ...await this.#inTurns(findDuplicates('upstream', upstreams, ({ definition: { name } }) => name)),
      ...await this.#inTurns(findDuplicates('tool', tools, toKey)),
      ...await this.#inTurns(findDuplicates('prompt', prompts, toKey)),
      ...await this.#inTurns(findDuplicates('resource', [...unlisted, ...resources], toKey)),
      ...await this.#inTurns(findDuplicates('resource template', templates, toKey)),
      ...await this.#inTurns(findDuplicates('skill', skills, toKey))
    )
    this.#assertNoProblem()
    // After all other problems, so that nothing is open when the catalog has one. Lists use what is open.
    const open = await this.#openDependencies([...dependencies, ...upstreams])
    this.#assertNoProblem()
    const listings = early ?? await list(open)
    const entries: Array<Compiled<CompiledPrimitive>> = [...resources, ...locateEntries(listings)]
    this.#problems.push(
      ...await this.#inTurns(findDuplicates('resource', [...unlisted, ...entries], toKey))
    )
    if (this.#problems.length > 0) open?.release()
    this.#assertNoProblem()

    const primitives = {
      tools: await this.#inTurns(inOrder(tools)),
      prompts: await this.#inTurns(inOrder(prompts)),
      resources: await this.#inTurns(inOrder([...resources, ...unlisted])),
      templates: await this.#inTurns(inOrder(templates)),
      skills: await this.#inTurns(inOrder(skills)),
      listed: await this.#inTurns(inOrder(entries))
    }
    const version = await this.#inTurns(toCatalogVersion({ server, primitives, hierarchy, digest }))
    const parts = {
      server,
      primitives,
      ownTools,
      listings,
      handles: new Map(handles.map(({ compiled, located }) => [located.definition, compiled])),
      upstreams: contents.upstreams.map((located) => toUpstreamFacts(located, upstreams)),
      settings,
      stamps,
      hierarchy,
      digest,
      version
    }
    return await this.#inTurns(createSnapshot({ ...parts, dependencies: open }, this.#options))
  }

  /** Lets requests run between steps whose number grows with the catalog. */
  async #inTurns<T> (work: Stepwise<T>): Promise<T> {
    return await runInTurns(work, this.#options.yieldToRequests ?? (() => undefined))
  }

  readonly #reporterOf = (located: Located<unknown>): ReportProblem => createReporter(this.#problems, located)

  async #compileAll<L extends Located<unknown>, C> (
    all: readonly L[], compile: Compile<L, C>
  ): Promise<Array<Compiled<C, L['definition']>>> {
    const results: Array<Compiled<C, L['definition']>> = []
    for (const located of all) {
      const turn = this.#options.yieldToRequests?.()
      if (turn !== undefined) await turn
      const report = this.#reporterOf(located)
      try {
        const compiled = compile(located, report)
        if (compiled !== undefined) results.push({ compiled, located })
      } catch (error) {
        // A value of the author may throw, for example when it is not JSON. The problems of the other
        // definitions are reported even then.
        report('', `cannot be compiled: ${messageOf(error)}`)
      }
    }
    return results
  }

  async #compileTools (handles: ReadonlyArray<Compiled<HandleKind>>) {
    const { tools, apps, server: { schemas, limits: allLimits } } = this.#contents
    const { hasTasks } = this.#options
    const lifetimes = describeLifetimes(handles)
    return await this.#compileAll(tools, (located, report) => {
      const { definition, fingerprint } = located
      const appUri = definition.ui === undefined ? undefined : apps.get(definition.ui)?.uri
      const additions = { remark: lifetimes.get(definition.name), appUri, hasTasks, allLimits, schemas }
      return this.#knownTools.get(
        definition, JSON.stringify([additions, fingerprint]), report,
        (compilers, tell) => compileTool(located, compilers, tell, additions)
      )
    })
  }

  #compileOwnTools (tools: ReadonlyArray<Compiled<CompiledTool, ToolDefinition>>): CompiledTool[] {
    const { continuesCalls, limits } = this.#contents.server
    const compiled = tools.map((tool) => tool.compiled)
    const report: ReportProblem = (place, rule) => {
      throw new TypeError(`unreachable: a tool of the service, ${place}: ${rule}`)
    }
    const ownTools = [
      continuesCalls ? compileContinueTool(compiled, this.#compilers, report) : undefined,
      this.#options.compileReadMoreTool?.(compiled, limits, this.#compilers, report)
    ].filter((tool) => tool !== undefined)
    for (const { compiled: { key }, located } of tools) {
      if (!ownTools.some((tool) => tool.key === key)) continue
      const rule = key === CONTINUE_TOOL
        ? 'which continues calls of tools with task or relayQuestions: choose another name, or write ' +
          'continueTool: off in server.yaml'
        : 'which reads on in results that were cut: choose another name'
      this.#reporterOf(located)('name', `${key} is a tool of the service, ${rule}`)
    }
    return ownTools
  }

  #checkCreators (handles: ReadonlyArray<Compiled<HandleKind>>): void {
    if (handles.length === 0) return
    const tools = new Set(this.#contents.tools.map(({ definition }) => definition.name))
    for (const { compiled: { createdBy }, located } of handles) {
      if (createdBy === undefined || tools.has(createdBy)) continue
      const rule = `names the tool ${JSON.stringify(createdBy)}, which does not exist`
      this.#reporterOf(located)('createdBy', rule)
    }
  }

  /** Reports what `upstreams` of a primitive names, but the catalog does not define. */
  #checkUpstreams (): void {
    const { upstreams, tools, prompts, resources, templates } = this.#contents
    const defined = new Set<unknown>(upstreams.map(({ definition }) => definition))
    for (const located of [...tools, ...prompts, ...resources, ...templates]) {
      const { upstreams: used } = located.definition
      // The shape of the definition has been checked.
      if (!Array.isArray(used)) continue
      for (const [index, upstream] of used.entries()) {
        if (!defined.has(upstream)) this.#reporterOf(located)(`upstreams[${index}]`, UNKNOWN_UPSTREAM)
      }
    }
  }

  async #openDependencies (
    all: ReadonlyArray<Compiled<CompiledDependency>>
  ): Promise<DependencySet | undefined> {
    if (all.length === 0) return undefined
    return await this.#options.openDependencies?.(all.map(({ compiled, located }) => {
      const isUnchanged = this.#contents.unchangedModules.has(located.file)
      return { compiled, isUnchanged, report: this.#reporterOf(located) }
    }))
  }

  #assertNoProblem (): void {
    if (this.#problems.length === 0) return
    throw new CatalogError([...this.#contents.leftOut, ...this.#problems])
  }
}

/** Returns sentences for the descriptions of tools: how long the handles that they create are kept. */
function describeLifetimes (handles: ReadonlyArray<Compiled<HandleKind>>): ReadonlyMap<string, string> {
  const sentences = new Map<string, string>()
  for (const { compiled } of handles) {
    if (compiled.createdBy === undefined) continue
    const earlier = sentences.get(compiled.createdBy) ?? ''
    sentences.set(compiled.createdBy, `${earlier} ${describeLifetime(compiled)}`.trimStart())
  }
  return sentences
}

const toKey = ({ key }: CompiledPrimitive) => key
