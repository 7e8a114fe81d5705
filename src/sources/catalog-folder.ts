// Loads a catalog from a folder: server.yaml, tools/, prompts/, resources/.

import { readdir } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { CatalogError, type Problem } from '../catalog/problem.ts'
import type { CatalogContents, Located, ServerSettings } from '../catalog/contents.ts'
import type { DefinitionKind } from '../authoring/definition.ts'
import type { HandleDefinition } from '../authoring/define-handle.ts'
import type { PromptDefinition } from '../authoring/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../authoring/define-resource.ts'
import type { ToolDefinition } from '../authoring/define-tool.ts'
import { createCompiledModules, type CompiledModules } from '../modules/compiled-module.ts'
import { createModuleGraph, type ModuleGraph } from '../modules/module-graph.ts'
import type { Namespace } from '../modules/namespace.ts'
import { yieldToRequests } from '../modules/yield-to-requests.ts'
import { isPart } from './catalog-parts.ts'
import type { CatalogSource } from './catalog-source.ts'
import { isMissingPath, listFiles, type FolderFile } from './folder-files.ts'
import { watchFolder, type WatchMode } from './folder-watcher.ts'
import { createPlainFiles } from './plain-files.ts'
import {
  DEFINE_FUNCTIONS, findDefinitions, isHandle, isPrompt, isResource, isTemplate, isTool, placeOf, ruleOf,
  type FoundDefinition
} from './module-definitions.ts'
import { readMarkdownPromptFile } from './markdown-prompt.ts'
import { defaultServerSettings, readServerSettings, SERVER_FILE } from './server-yaml.ts'

interface CatalogFolderOptions {
  /** The maximum bytes that one read of a file or of a directory may return. */
  readonly maxResourceBytes: number
  readonly watchMode: WatchMode
  /** The module that catalog modules get when they import 'trivet'. */
  readonly trivet: Namespace
  /**
   * How long one module may take to evaluate, in milliseconds. A module that never ends must not block later
   * reloads. 30,000 by default.
   */
  readonly moduleDeadlineMs?: number
}

/** @param folder absolute, or relative to the working directory of the process. */
export function openCatalogFolder (folder: string, options: CatalogFolderOptions): CatalogSource {
  const root = resolve(folder)
  const compiled = createCompiledModules()
  // Never shrinks, so that it is complete during a load too.
  const imported = new Set<string>()
  const onImport = (file: string) => { imported.add(relative(root, file).split(sep).join('/')) }
  return {
    name: root,
    load: () => loadFolder(root, { ...options, compiled, onImport }),
    watch: async (onChange, onError) => await watchFolder(root, options.watchMode, {
      onChange, onError, isPart: (path) => isPart(path, imported)
    })
  }
}

const MODULE = /\.(?:m?[jt]s|[jt]sx)$/
const DECLARATION = /\.d\.m?ts$/
const RESOURCE_MODULE = /\.resource\.(?:m?[jt]s|[jt]sx)$/

const isModule = ({ path }: FolderFile) => MODULE.test(path) && !DECLARATION.test(path)

interface FolderLoad extends CatalogFolderOptions {
  readonly compiled: CompiledModules
  /** Called with each file that a module imports. */
  readonly onImport: (file: string) => void
}

async function loadFolder (root: string, options: FolderLoad): Promise<CatalogContents> {
  await assertFolder(root)
  const { maxResourceBytes, trivet, moduleDeadlineMs: deadlineMs, compiled, onImport } = options
  const graph = createModuleGraph({
    root, provided: { trivet }, compiled, onImport, ...(deadlineMs === undefined ? {} : { deadlineMs })
  })
  const reader = new CatalogReader(root, graph)
  const server = await reader.server()
  const [toolFiles = [], promptFiles = [], resourceFiles = []] = await Promise.all(
    ['tools', 'prompts', 'resources'].map(async (folder) => await reader.files(folder))
  )
  const toolModules = toolFiles.filter(isModule)
  const resourceModules = resourceFiles.filter(({ path }) => RESOURCE_MODULE.test(path))

  reader.start([...toolModules, ...promptFiles.filter(isModule), ...resourceModules])
  for (const file of toolModules) await reader.module('tools', file, ['tool'])
  for (const file of promptFiles) {
    if (file.path.endsWith('.md')) await reader.markdownPrompt('prompts', file)
    else if (isModule(file)) await reader.module('prompts', file, ['prompt'])
  }
  for (const file of resourceModules) {
    await reader.module('resources', file, ['resource', 'resource-template'])
  }
  compiled.forgetUnused()
  const plainFiles = resourceFiles.filter(({ path }) => !RESOURCE_MODULE.test(path))
  const plain = await createPlainFiles(join(root, 'resources'), plainFiles, {
    readTtlMs: server.readTtlMs, maxBytes: maxResourceBytes
  })
  const hasFiles = plainFiles.length > 0
  const folderOfFiles = { file: 'resources/', place: '' }

  return {
    server,
    tools: reader.tools,
    prompts: reader.prompts,
    resources: [
      ...reader.resources,
      ...plain.resources.map(
        ({ definition, file }) => ({ definition, file: `resources/${file.path}`, place: '' })
      )
    ],
    unlisted: hasFiles ? [{ definition: plain.folder, ...folderOfFiles }] : [],
    templates: [
      ...reader.templates, ...(hasFiles ? [{ definition: plain.template, ...folderOfFiles }] : [])
    ],
    handles: await reader.handles(),
    stamps: plain.stamps,
    problems: reader.problems
  }
}

/** Throws a CatalogError that says why the folder cannot be read. */
async function assertFolder (root: string): Promise<void> {
  const rule = await readdir(root).then(() => undefined, (error: unknown) => {
    return isMissingPath(error)
      ? 'is not a folder; set TRIVET_CATALOG to the folder of the catalog'
      : `cannot be read: ${ruleOf(error)}`
  })
  if (rule !== undefined) throw new CatalogError([{ file: root, place: '', rule }])
}

/** Reads the folder once, and collects definitions and problems. */
class CatalogReader {
  readonly tools: Array<Located<ToolDefinition>> = []
  readonly prompts: Array<Located<PromptDefinition>> = []
  readonly resources: Array<Located<ResourceDefinition>> = []
  readonly templates: Array<Located<ResourceTemplateDefinition>> = []
  readonly problems: Problem[] = []
  readonly #root: string
  readonly #graph: ModuleGraph
  readonly #loading = new Map<string, Promise<Namespace>>()
  readonly #definitions = new Map<Namespace, FoundDefinition[]>()

  constructor (root: string, graph: ModuleGraph) {
    this.#root = root
    this.#graph = graph
  }

  async server (): Promise<ServerSettings> {
    try {
      return await readServerSettings(this.#root)
    } catch (error) {
      this.problems.push({ file: SERVER_FILE, place: placeOf(error, SERVER_FILE), rule: ruleOf(error) })
      return defaultServerSettings(this.#root)
    }
  }

  async files (folder: string): Promise<FolderFile[]> {
    return await listFiles(join(this.#root, folder), (path, error) => {
      const file = posix.join(folder, path)
      this.problems.push({ file, place: '', rule: `cannot be read: ${ruleOf(error)}` })
    })
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
      const found = this.#definitionsOf(await this.#loading.get(absolutePath) ?? {}).filter(
        ({ definition }) => !isHandle(definition)
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
      this.problems.push({ file, place: this.#placeInGraph(error, absolutePath), rule: ruleOf(error) })
    }
  }

  /**
   * The handle definitions that modules in any folder export. Each is returned once, even if several modules
   * export it.
   */
  async handles (): Promise<Array<Located<HandleDefinition>>> {
    const found = new Map<HandleDefinition, Located<HandleDefinition>>()
    for (const { file, exports } of this.#graph.loaded()) {
      await yieldToRequests()
      for (const { place, definition } of this.#definitionsOf(exports)) {
        if (isHandle(definition) && !found.has(definition)) {
          found.set(definition, { definition, place, file: relative(this.#root, file) })
        }
      }
    }
    return [...found.values()]
  }

  #definitionsOf (namespace: Namespace): FoundDefinition[] {
    const found = this.#definitions.get(namespace) ?? findDefinitions(namespace)
    this.#definitions.set(namespace, found)
    return found
  }

  async markdownPrompt (folder: string, { path, absolutePath }: FolderFile): Promise<void> {
    const file = `${folder}/${path}`
    try {
      this.prompts.push({ definition: await readMarkdownPromptFile(absolutePath), file, place: '' })
    } catch (error) {
      this.problems.push({ file, place: placeOf(error, absolutePath), rule: ruleOf(error) })
    }
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
