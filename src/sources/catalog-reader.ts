// Reads the definitions of a catalog folder, and the problems of its files.

import { join, posix, relative } from 'node:path'
import type { Problem } from '../catalog/problem.ts'
import type { Located, ServerSettings } from '../catalog/contents.ts'
import type { DefinitionKind } from '../authoring/definition.ts'
import type { PromptDefinition } from '../authoring/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../authoring/define-resource.ts'
import type { ToolDefinition } from '../authoring/define-tool.ts'
import type { ModuleGraph } from '../modules/module-graph.ts'
import type { Namespace } from '../modules/namespace.ts'
import { isTest } from './catalog-parts.ts'
import { listFiles, type FolderFile } from './folder-files.ts'
import {
  columnOf, DEFINE_FUNCTIONS, findDefinitions, isPrompt, isRegistered, isResource, isTemplate, isTool, placeOf,
  ruleOf
} from './module-definitions.ts'
import { readMarkdownPromptFile } from './markdown-prompt.ts'
import { defaultServerSettings, readServerSettings, SERVER_FILE } from './server-yaml.ts'
import { readSidecars, type KnownSidecars, type Sidecars } from './sidecars.ts'

/** Reads the folder once, and collects definitions and problems. */
export class CatalogReader {
  readonly tools: Array<Located<ToolDefinition>> = []
  readonly prompts: Array<Located<PromptDefinition>> = []
  readonly resources: Array<Located<ResourceDefinition>> = []
  readonly templates: Array<Located<ResourceTemplateDefinition>> = []
  readonly problems: Problem[] = []
  readonly #root: string
  readonly #graph: ModuleGraph
  readonly #loading = new Map<string, Promise<Namespace>>()

  constructor (root: string, graph: ModuleGraph) {
    this.#root = root
    this.#graph = graph
  }

  async server (): Promise<ServerSettings> {
    try {
      return await readServerSettings(this.#root)
    } catch (error) {
      const place = placeOf(error, SERVER_FILE)
      this.problems.push({ file: SERVER_FILE, place, ...columnOf(error), rule: ruleOf(error) })
      return defaultServerSettings(this.#root)
    }
  }

  /** Without tests. */
  async files (folder: string): Promise<FolderFile[]> {
    const files = await listFiles(join(this.#root, folder), (path, error) => {
      const file = posix.join(folder, path)
      this.problems.push({ file, place: '', rule: `cannot be read: ${ruleOf(error)}` })
    })
    return files.filter(({ path }) => !isTest(posix.join(folder, path)))
  }

  /**
   * Starts loading all modules before any is awaited, so that their top-level awaits run at the same time.
   */
  start (files: readonly FolderFile[]): void {
    for (const { absolutePath } of files) {
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
      const found = findDefinitions(await this.#loading.get(absolutePath) ?? {}).filter(
        ({ definition }) => !isRegistered(definition)
      )
      if (found.length === 0) {
        this.problems.push({
          file,
          place: '',
          rule: `exports nothing made by ${expected}; ` +
            'code that tools share belongs in another folder, such as lib/'
        })
      }
      for (const { place, definition } of found) this.#add(definition, { file, place }, allowed, expected)
    } catch (error) {
      const place = this.#placeInGraph(error, absolutePath)
      this.problems.push({ file, place, ...columnOf(error), rule: ruleOf(error) })
    }
  }

  async markdownPrompt (folder: string, { path, absolutePath }: FolderFile): Promise<void> {
    const file = `${folder}/${path}`
    try {
      this.prompts.push({ definition: await readMarkdownPromptFile(absolutePath), file, place: '' })
    } catch (error) {
      const place = placeOf(error, absolutePath)
      this.problems.push({ file, place, ...columnOf(error), rule: ruleOf(error) })
    }
  }

  /** @param listed the plain files of the folder, with their sidecars. */
  async sidecars (
    folder: string, listed: readonly FolderFile[], readTtlMs: number, known: KnownSidecars
  ): Promise<Sidecars> {
    return await readSidecars(listed, readTtlMs, known, (path, place, rule) => {
      this.problems.push({ file: posix.join(folder, path), place, rule })
    })
  }

  /** Names the file too if the error arose in a file that the loaded one imports. */
  #placeInGraph (error: unknown, loaded: string): string {
    const origin = this.#graph.originOf(error) ?? loaded
    const line = placeOf(error, origin)
    return origin === loaded ? line : `in ${relative(this.#root, origin)}${line === '' ? '' : `, ${line}`}`
  }

  #add (
    definition: unknown, at: { file: string, place: string }, allowed: readonly DefinitionKind[],
    expected: string
  ): void {
    if (isTool(definition) && allowed.includes('tool')) this.tools.push({ definition, ...at })
    else if (isPrompt(definition) && allowed.includes('prompt')) this.prompts.push({ definition, ...at })
    else if (isResource(definition) && allowed.includes('resource')) {
      this.resources.push({ definition, ...at })
    } else if (isTemplate(definition) && allowed.includes('resource-template')) {
      this.templates.push({ definition, ...at })
    } else this.problems.push({ ...at, rule: `must be made by ${expected} in this folder` })
  }
}
