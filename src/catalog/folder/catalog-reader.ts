// Reads the definitions of a catalog folder, and the problems of its files.

import { join, posix, relative } from 'node:path'
import type { CompletionSource } from '../../platform/author/completion.ts'
import type { PromptDefinition } from '../../platform/author/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../../platform/author/define-resource.ts'
import type { ToolDefinition } from '../../platform/author/define-tool.ts'
import type { DefinitionKind } from '../../platform/author/definition.ts'
import type { CacheScope } from '../../platform/protocol/primitives.ts'
import type { ForeignKeys, Located, PassedOver } from '../compiled/contents.ts'
import { isCompletionSource } from '../compiled/lists/completions.ts'
import type { Problem, ReportProblem } from '../compiled/problem.ts'
import type { ModuleGraph } from '../../platform/modules/module-graph.ts'
import type { Namespace } from '../../platform/modules/namespace.ts'
import { yieldToRequests } from '../../base/turns.ts'
import { APPS_FOLDER } from './apps/read-apps.ts'
import { isReadme, isTest } from './catalog-parts.ts'
import { columnOf, placeOf, ruleOf, toFileProblem } from './error-problem.ts'
import { FILES_FOLDER } from './files/embedded-files.ts'
import { listFiles, type FolderFile } from './files/folder-files.ts'
import type { PlainFiles } from './files/plain-files.ts'
import { isSidecar } from './files/sidecars.ts'
import {
  DEFINE_FUNCTIONS, findDefinitions, isPrompt, isRegistered, isResource, isTemplate, isTool
} from './module-definitions.ts'
import { readMarkdownPrompt, toPromptDefinition, type MarkdownPrompt } from './prompts/markdown-prompt.ts'
import { readServerSettings, SERVER_FILE, toServerFile, type ServerFile } from './server-yaml.ts'

/** Reads the folder once, and collects definitions and problems. */
export class CatalogReader {
  readonly tools: Array<Located<ToolDefinition>> = []
  readonly prompts: Array<Located<PromptDefinition>> = []
  readonly resources: Array<Located<ResourceDefinition>> = []
  readonly templates: Array<Located<ResourceTemplateDefinition>> = []
  readonly passedOver: PassedOver[] = []
  readonly foreignKeys: ForeignKeys[] = []
  readonly problems: Problem[] = []
  readonly #root: string
  readonly #graph: ModuleGraph
  readonly #added = new Set<unknown>()
  readonly #loading = new Map<string, Promise<Namespace>>()

  constructor (root: string, graph: ModuleGraph) {
    this.#root = root
    this.#graph = graph
  }

  async server (openCacheScope: CacheScope): Promise<ServerFile> {
    try {
      return await readServerSettings(this.#root, openCacheScope)
    } catch (error) {
      this.problems.push(toFileProblem(error, SERVER_FILE, SERVER_FILE))
      return toServerFile(this.#root, {}, openCacheScope)
    }
  }

  /** Without tests. */
  async files (folder: string): Promise<FolderFile[]> {
    const files = await listFiles(join(this.#root, folder), {
      onError: (path, error) => {
        const file = posix.join(folder, path)
        this.problems.push({ file, place: '', rule: `cannot be read: ${ruleOf(error)}` })
      },
      onPassedOver: (path, reason) => {
        const file = posix.join(folder, path)
        // Without its sidecar a file may be open to everyone. An app without one of its files does not work.
        const isProblem = folder === APPS_FOLDER || (folder === FILES_FOLDER && isSidecar(path))
        if (isProblem) this.problems.push({ file, place: '', rule: reason })
        else this.passedOver.push({ file, reason })
      }
    })
    return files.filter(({ path }) => !isTest(posix.join(folder, path)))
  }

  /**
   * Notes the files that are not loaded, and of which no module is known to use them.
   * @param imported the absolute paths of the files that modules import.
   */
  passOver (
    folder: string, files: readonly FolderFile[], imported: ReadonlySet<string>, reason: string
  ): void {
    for (const { path, absolutePath } of files) {
      if (isReadme(path) || imported.has(absolutePath)) continue
      this.passedOver.push({ file: posix.join(folder, path), reason })
    }
  }

  /**
   * Starts loading all modules before any is awaited, so that their top-level awaits run at the same time.
   */
  async start (files: ReadonlyArray<Pick<FolderFile, 'absolutePath'>>): Promise<void> {
    for (const { absolutePath } of files) {
      const turn = yieldToRequests()
      if (turn !== undefined) await turn
      if (this.#loading.has(absolutePath)) continue
      const loading = this.#graph.load(absolutePath)
      // `module` awaits the same promise, and reports its error.
      loading.catch(() => {})
      this.#loading.set(absolutePath, loading)
    }
  }

  async module (
    folder: string, { path, absolutePath }: FolderFile, allowed: readonly DefinitionKind[]
  ): Promise<void> {
    const file = `${folder}/${path}`
    const expected = allowed.map((kind) => DEFINE_FUNCTIONS[kind]).join(' or ')
    try {
      const definitions = findDefinitions(await this.#loading.get(absolutePath) ?? {}).filter(
        ({ definition }) => !isRegistered(definition)
      )
      if (definitions.length === 0) {
        this.problems.push({
          file,
          place: '',
          rule: `exports nothing made by ${expected}; ` +
            'code that tools share belongs in another folder, such as lib/'
        })
      }
      for (const { place, definition } of definitions) {
        this.#add(definition, { file, place }, allowed, expected)
      }
    } catch (error) {
      const place = this.#placeInGraph(error, absolutePath)
      this.problems.push({ file, place, ...columnOf(error), rule: ruleOf(error) })
    }
  }

  /** Reads a Markdown prompt, and starts no module. */
  async markdownPrompt (
    folder: string, { path, absolutePath }: FolderFile
  ): Promise<MarkdownPrompt | undefined> {
    const file = `${folder}/${path}`
    try {
      return await readMarkdownPrompt(absolutePath, file)
    } catch (error) {
      this.problems.push(toFileProblem(error, file, absolutePath))
      return undefined
    }
  }

  /** Defines the prompt. The modules that complete its arguments must have been started. */
  async promptOf (
    prompt: MarkdownPrompt, plain: PlainFiles, maxBytes: number
  ): Promise<void> {
    const { file, foreignKeys: keys } = prompt
    if (keys.length > 0) this.foreignKeys.push({ file, keys })
    const report: ReportProblem = (place, rule) => { this.problems.push({ file, place, rule }) }
    const completions = new Map<string, CompletionSource>()
    for (const [argument, { path, name }] of prompt.completions) {
      const place = `arguments.${argument}.complete`
      const absolutePath = join(this.#root, path)
      try {
        const exports = await this.#loading.get(absolutePath) ?? {}
        const source = Object.hasOwn(exports, name) ? exports[name] : undefined
        if (isCompletionSource(source)) completions.set(argument, source)
        else report(place, `${path} exports no function and no list of strings as ${name}`)
      } catch (error) {
        report(`${place}, ${this.#inFile(error, absolutePath)}`, ruleOf(error))
      }
    }
    const definition = toPromptDefinition(prompt, {
      completions, fileAt: (path) => plain.embeddable(path), maxBytes
    }, report)
    this.prompts.push({ definition, file, place: '' })
  }

  /** Names the file too if the error arose in a file that the loaded one imports. */
  #placeInGraph (error: unknown, loaded: string): string {
    const origin = this.#graph.originOf(error) ?? loaded
    return origin === loaded ? placeOf(error, origin) : this.#inFile(error, origin)
  }

  #inFile (error: unknown, loaded: string): string {
    const origin = this.#graph.originOf(error) ?? loaded
    const line = placeOf(error, origin)
    return `in ${relative(this.#root, origin)}${line === '' ? '' : `, ${line}`}`
  }

  #add (
    definition: unknown, at: Omit<Located<unknown>, 'definition'>, allowed: readonly DefinitionKind[],
    expected: string
  ): void {
    // A module may export what another one defines: export * from './search.ts'
    if (this.#added.has(definition)) return
    this.#added.add(definition)
    if (isTool(definition) && allowed.includes('tool')) this.tools.push({ definition, ...at })
    else if (isPrompt(definition) && allowed.includes('prompt')) this.prompts.push({ definition, ...at })
    else if (isResource(definition) && allowed.includes('resource')) {
      this.resources.push({ definition, ...at })
    } else if (isTemplate(definition) && allowed.includes('resource-template')) {
      this.templates.push({ definition, ...at })
    } else {
      const { file, place } = at
      this.problems.push({ file, place, rule: `must be made by ${expected} in this folder` })
    }
  }
}
