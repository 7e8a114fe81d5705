// Loads a catalog from a folder: server.yaml, tools/, prompts/, resources/, skills/, apps/.

import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { CatalogError } from '../catalog/problem.ts'
import { compileHierarchy } from '../catalog/scope-hierarchy.ts'
import type { CatalogContents } from '../catalog/contents.ts'
import { createCompiledModules, type CompiledModules } from '../modules/compiled-module.ts'
import { createModuleGraph, type ModuleGraph } from '../modules/module-graph.ts'
import type { Namespace } from '../modules/namespace.ts'
import { filesOf, type ReusableModules } from '../modules/reusable-modules.ts'
import { APPS_FOLDER, readApps, type KnownApps } from './apps/read-apps.ts'
import { findAppProblems } from './apps/tool-apps.ts'
import { isPart, isReadme, mayHoldParts } from './catalog-parts.ts'
import { CatalogReader } from './catalog-reader.ts'
import type { CatalogSource } from './catalog-source.ts'
import { createFileDigests, type FileDigests } from './file-digests.ts'
import { digestFiles } from './folder-digest.ts'
import { isMissingPath, type FolderFile } from './folder-files.ts'
import { watchFolder, type WatchMode } from './folder-watcher.ts'
import { createIgnoredPaths, readIgnored } from './ignored-paths.ts'
import { ruleOf } from './module-definitions.ts'
import type { MarkdownPrompt } from './markdown-prompt.ts'
import { createPlainFiles } from './plain-files.ts'
import { findRegistered, REGISTERING } from './registered-definitions.ts'
import { createKnownSidecars, type KnownSidecars } from './sidecars.ts'
import { readSkills, SKILLS_FOLDER } from './skills.ts'

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
  let fileDigests = createFileDigests(options.maxResourceBytes)
  let knownSidecars = createKnownSidecars()
  let knownApps: KnownApps = new Map()
  // Never shrinks, so that it is complete during a load too.
  const imported = new Set<string>()
  const onImport = (file: string) => { imported.add(relative(root, file).split(sep).join('/')) }
  const ignored = createIgnoredPaths()
  let loaded: LoadedModules | undefined
  let served: LoadedModules | undefined
  return {
    name: root,
    async load () {
      const { contents, modules, watchIgnore } = await loadFolder(
        root, { ...options, compiled, fileDigests, knownSidecars, knownApps, onImport }, served
      )
      if (contents.problems.length === 0) await ignored.set(watchIgnore)
      loaded = modules
      return contents
    },
    // The modules of a load that was refused may not work, although they were evaluated.
    accepted () { served = loaded },
    forget () {
      served = undefined
      fileDigests = createFileDigests(options.maxResourceBytes)
      knownSidecars = createKnownSidecars()
      knownApps = new Map()
    },
    async watch (onChange, onError) {
      await ignored.set(await readIgnored(root))
      return await watchFolder(root, options.watchMode, {
        onChange,
        onError,
        ignored,
        isPart: (path) => !ignored.has(path) && isPart(path, imported),
        mayHoldParts: (path) => mayHoldParts(path, imported)
      })
    }
  }
}

const FOLDERS = ['tools', 'prompts', 'resources', SKILLS_FOLDER, APPS_FOLDER]
const MODULE = /\.(?:[cm]?[jt]s|[jt]sx)$/
const DECLARATION = /\.d\.[cm]?ts$/
const RESOURCE_MODULE = /\.resource\.(?:[cm]?[jt]s|[jt]sx)$/

const isModule = ({ path }: FolderFile) => MODULE.test(path) && !DECLARATION.test(path)
const isMarkdown = ({ path }: FolderFile) => path.endsWith('.md') && !isReadme(path)
const NO_MODULE = 'is no module: the names of modules end in .ts or .js, or such as .mts, .cjs or .tsx'

interface FolderLoad extends CatalogFolderOptions {
  readonly compiled: CompiledModules
  readonly fileDigests: FileDigests
  readonly knownSidecars: KnownSidecars
  readonly knownApps: KnownApps
  /** Called with each file that a module imports. */
  readonly onImport: (file: string) => void
}

/** The modules of a load. */
interface LoadedModules {
  readonly graph: ModuleGraph
  /** Changes with every file that is no module. Modules may read such files when they are evaluated. */
  readonly otherFiles: string
}

interface Loaded {
  readonly contents: CatalogContents
  readonly modules: LoadedModules
  readonly watchIgnore: readonly string[]
}

async function loadFolder (
  root: string, options: FolderLoad, earlier: LoadedModules | undefined
): Promise<Loaded> {
  await assertFolder(root)
  const {
    maxResourceBytes, trivet, moduleDeadlineMs: deadlineMs, compiled, fileDigests, knownSidecars
  } = options
  const imported = new Set<string>()
  const onImport = (file: string) => {
    imported.add(file)
    options.onImport(file)
  }
  const graph = createModuleGraph({
    root,
    provided: { trivet },
    registering: REGISTERING,
    compiled,
    onImport,
    ...(deadlineMs === undefined ? {} : { deadlineMs })
  })
  const reader = new CatalogReader(root, graph)
  const server = await reader.server()
  const [toolFiles = [], promptFiles = [], resourceFiles = [], skillFiles = [], appFiles = []] =
    await Promise.all(FOLDERS.map(async (folder) => await reader.files(folder)))
  const toolModules = toolFiles.filter(isModule)
  const resourceModules = resourceFiles.filter(({ path }) => RESOURCE_MODULE.test(path))
  const plainFiles = resourceFiles.filter(({ path }) => !RESOURCE_MODULE.test(path))
  const sidecars = await reader.sidecars('resources', plainFiles, server.readTtlMs, knownSidecars)
  const otherFiles = digestOf([
    server, promptFiles.filter((file) => !isModule(file)), plainFiles, skillFiles, appFiles
  ])
  const unchanged: ReusableModules = earlier === undefined
    ? new Set()
    : await graph.findReusable(earlier.graph)
  if (earlier?.otherFiles === otherFiles) graph.reuse(unchanged)

  const markdownPrompts: MarkdownPrompt[] = []
  for (const file of promptFiles.filter(isMarkdown)) {
    const prompt = await reader.markdownPrompt('prompts', file)
    if (prompt !== undefined) markdownPrompts.push(prompt)
  }
  const completing = markdownPrompts.flatMap(({ completions }) => [...completions.values()])
  reader.start([
    ...toolModules, ...promptFiles.filter(isModule), ...resourceModules,
    ...completing.map(({ path }) => ({ absolutePath: join(root, path) }))
  ])
  for (const file of toolModules) await reader.module('tools', file, ['tool'])
  for (const file of promptFiles.filter(isModule)) await reader.module('prompts', file, ['prompt'])
  for (const file of resourceModules) {
    await reader.module('resources', file, ['resource', 'resource-template'])
  }
  graph.endLoading()
  compiled.forgetUnused()
  // Compiled here too: `read` and `complete` of plain files decide for each caller which files are there.
  const hierarchy = compileHierarchy(server.scopes, () => () => {})
  const plain = await createPlainFiles(join(root, 'resources'), sidecars, {
    maxBytes: maxResourceBytes, hierarchy
  })
  const apps = await readApps(appFiles, {
    folder: join(root, APPS_FOLDER),
    serverName: server.info.name,
    readTtlMs: server.readTtlMs,
    maxResourceBytes,
    known: options.knownApps
  })
  for (const prompt of markdownPrompts) await reader.promptOf(prompt, plain, maxResourceBytes)
  const { problems, passedOver } = reader
  const skills = await readSkills(join(root, SKILLS_FOLDER), skillFiles, {
    maxBytes: maxResourceBytes, fileDigests, problems, passedOver
  })
  const isLoaded = (file: FolderFile) => MODULE.test(file.path)
  reader.passOver('tools', toolFiles.filter((file) => !isLoaded(file)), imported, NO_MODULE)
  reader.passOver(
    'prompts', promptFiles.filter((file) => !isLoaded(file) && !isMarkdown(file)), imported,
    `${NO_MODULE}; and it is not Markdown, whose names end in .md`
  )
  const hasFiles = sidecars.files.length > 0
  const folderOfFiles = { file: 'resources/', place: '' }

  const contents = {
    server,
    tools: reader.tools,
    prompts: reader.prompts,
    resources: [
      ...reader.resources,
      ...plain.resources.map(
        ({ definition, file, bytes }) => ({ definition, bytes, file: `resources/${file.path}`, place: '' })
      ),
      ...skills.resources,
      ...apps.resources
    ],
    apps: apps.byName,
    unlisted: [
      ...hasFiles ? [{ definition: plain.folder, ...folderOfFiles }] : [], ...skills.directories
    ],
    templates: [
      ...reader.templates, ...(hasFiles ? [{ definition: plain.template, ...folderOfFiles }] : [])
    ],
    skills: skills.skills,
    ...await findRegistered(root, graph.loaded()),
    unchangedModules: new Set(filesOf(unchanged).map((file) => relative(root, file))),
    stamps: new Map([...plain.stamps, ...skills.stamps, ...apps.stamps]),
    ...await digestFiles(root, {
      modules: graph.files(),
      imported,
      files: [
        ...promptFiles.filter((file) => !isModule(file)), ...plainFiles, ...skills.files, ...appFiles
      ],
      fileDigests
    }),
    passedOver: [...passedOver, ...apps.passedOver],
    problems: [
      ...problems,
      ...apps.problems,
      ...await findAppProblems(root, reader.tools, apps.byName, hierarchy)
    ]
  }
  return { contents, modules: { graph, otherFiles }, watchIgnore: server.watchIgnore }
}

function digestOf (values: unknown): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64')
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
