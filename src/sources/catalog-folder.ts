// A catalog as a folder: server.yaml, tools/, prompts/, resources/.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CatalogError, type Complaint } from '../catalog/complaint.ts'
import type { CatalogContents, Located, ServerSettings } from '../catalog/contents.ts'
import type { DefinitionKind } from '../authoring/definition.ts'
import type { PromptDefinition } from '../authoring/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../authoring/define-resource.ts'
import type { ToolDefinition } from '../authoring/define-tool.ts'
import type { CatalogSource } from './catalog-source.ts'
import { listFiles, type FolderFile } from './folder-files.ts'
import { watchFolder, type WatchMode } from './folder-watcher.ts'
import { createPlainFiles } from './plain-files.ts'
import { DEFINE_FUNCTIONS, findDefinitions, isPrompt, isResource, isTemplate, isTool, placeOf, ruleOf } from './module-definitions.ts'
import { readMarkdownPromptFile } from './markdown-prompt.ts'
import { createModuleGraph, type ModuleGraph, type Namespace } from './module-graph.ts'
import { defaultServerSettings, readServerSettings, SERVER_FILE } from './server-yaml.ts'

export interface CatalogFolderOptions {
  /** The most bytes that reading a file, or the files of a directory, may return. */
  readonly maxResourceBytes: number
  readonly watchMode: WatchMode
  /** What catalog modules get when they import 'trivet'. */
  readonly trivet: Namespace
}

export function openCatalogFolder (root: string, options: CatalogFolderOptions): CatalogSource {
  return {
    name: root,
    load: () => loadFolder(root, options),
    watch: (onChange) => watchFolder(root, options.watchMode, onChange)
  }
}

const MODULE = /\.(?:ts|mts|js|mjs)$/
const DECLARATION = /\.d\.m?ts$/
const RESOURCE_MODULE = /\.resource\.(?:ts|mts|js|mjs)$/

const isModule = ({ path }: FolderFile) => MODULE.test(path) && !DECLARATION.test(path)

async function loadFolder (root: string, { maxResourceBytes, trivet }: CatalogFolderOptions): Promise<CatalogContents> {
  const facts = await stat(root).catch(() => undefined)
  if (facts?.isDirectory() !== true) throw new CatalogError([{ file: root, place: '', rule: 'is not a folder; set TRIVET_CATALOG to the folder of the catalog' }])
  const reading = new Reading(createModuleGraph({ trivet }))
  const server = await reading.server(root)
  const inFolder = async (name: string) => await listFiles(join(root, name))

  for (const file of (await inFolder('tools')).filter(isModule)) await reading.module('tools', file, ['tool'])
  for (const file of await inFolder('prompts')) {
    if (file.path.endsWith('.md')) await reading.markdownPrompt('prompts', file)
    else if (isModule(file)) await reading.module('prompts', file, ['prompt'])
  }
  const resourceFiles = await inFolder('resources')
  for (const file of resourceFiles.filter(({ path }) => RESOURCE_MODULE.test(path))) await reading.module('resources', file, ['resource', 'resource-template'])
  const plainFiles = resourceFiles.filter(({ path }) => !RESOURCE_MODULE.test(path))
  const plain = await createPlainFiles(join(root, 'resources'), plainFiles, { readTtlMs: server.readTtlMs, maxBytes: maxResourceBytes })

  return {
    server,
    tools: reading.tools,
    prompts: reading.prompts,
    resources: [...reading.resources, ...plain.resources.map(({ definition, file }) => ({ definition, file: `resources/${file.path}`, place: '' }))],
    templates: [...reading.templates, ...(plainFiles.length === 0 ? [] : [{ definition: plain.template, file: 'resources/', place: '' }])],
    stamps: plain.stamps,
    complaints: reading.complaints
  }
}

/** One pass over the folder: what it found, and what it could not use. */
class Reading {
  readonly tools: Array<Located<ToolDefinition>> = []
  readonly prompts: Array<Located<PromptDefinition>> = []
  readonly resources: Array<Located<ResourceDefinition>> = []
  readonly templates: Array<Located<ResourceTemplateDefinition>> = []
  readonly complaints: Complaint[] = []
  readonly #graph: ModuleGraph

  constructor (graph: ModuleGraph) {
    this.#graph = graph
  }

  async server (root: string): Promise<ServerSettings> {
    try {
      return await readServerSettings(root)
    } catch (error) {
      this.complaints.push({ file: SERVER_FILE, place: placeOf(error, SERVER_FILE), rule: ruleOf(error) })
      return defaultServerSettings(root)
    }
  }

  async module (folder: string, { path, absolutePath }: FolderFile, allowed: readonly DefinitionKind[]): Promise<void> {
    const file = `${folder}/${path}`
    const expected = allowed.map((kind) => DEFINE_FUNCTIONS[kind]).join(' or ')
    try {
      const found = findDefinitions(await this.#graph.load(absolutePath))
      if (found.length === 0) this.complaints.push({ file, place: '', rule: `exports nothing made by ${expected}; code that tools share belongs in another folder, such as lib/` })
      for (const { place, definition } of found) this.#add(definition, { file, place }, allowed, expected)
    } catch (error) {
      this.complaints.push({ file, place: placeOf(error, absolutePath), rule: ruleOf(error) })
    }
  }

  async markdownPrompt (folder: string, { path, absolutePath }: FolderFile): Promise<void> {
    const file = `${folder}/${path}`
    try {
      this.prompts.push({ definition: await readMarkdownPromptFile(absolutePath), file, place: '' })
    } catch (error) {
      this.complaints.push({ file, place: placeOf(error, absolutePath), rule: ruleOf(error) })
    }
  }

  #add (definition: unknown, at: { file: string, place: string }, allowed: readonly DefinitionKind[], expected: string): void {
    if (isTool(definition) && allowed.includes('tool')) this.tools.push({ definition, ...at })
    else if (isPrompt(definition) && allowed.includes('prompt')) this.prompts.push({ definition, ...at })
    else if (isResource(definition) && allowed.includes('resource')) this.resources.push({ definition, ...at })
    else if (isTemplate(definition) && allowed.includes('resource-template')) this.templates.push({ definition, ...at })
    else this.complaints.push({ ...at, rule: `must be made by ${expected} in this folder` })
  }
}
