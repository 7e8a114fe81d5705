// Loads a catalog from a folder: server.yaml, tools/, prompts/, resources/, skills/, apps/.

import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import type { OutputContents } from '../../platform/author/define-resource.ts'
import type { CacheScope } from '../../platform/protocol/primitives.ts'
import type { CatalogContents } from '../compiled/contents.ts'
import { compileHierarchy } from '../compiled/scopes/scope-hierarchy.ts'
import type { CompiledModules } from '../../platform/modules/compiled-module.ts'
import { ModuleGraph } from '../../platform/modules/module-graph.ts'
import type { Namespace } from '../../platform/modules/namespace.ts'
import { filesOf, type ReusableModules } from '../../platform/modules/reusable-modules.ts'
import { noteSchemaLibrary } from '../../platform/schema/standard-schema.ts'
import { yieldToRequests } from '../../base/turns.ts'
import type { UnchangedFiles } from '../../base/unchanged-files.ts'
import { APPS_FOLDER, readApps, type MadeApps } from './apps/read-apps.ts'
import { findAppProblems } from './apps/tool-apps.ts'
import { assertReadable } from './catalog-layout.ts'
import { isReadme } from './catalog-parts.ts'
import { CatalogReader } from './catalog-reader.ts'
import { FILES_FOLDER } from './files/embedded-files.ts'
import { addFingerprints, digestFiles, type FileDigests } from './files/file-digests.ts'
import type { FolderFile } from './files/folder-files.ts'
import { openPlainFiles } from './files/plain-files.ts'
import { readSidecars, type ParsedSidecars } from './files/sidecars.ts'
import { findRegistered, REGISTERING } from './module-definitions.ts'
import type { MarkdownPrompt } from './prompts/markdown-prompt.ts'
import { readSkills, SKILLS_FOLDER } from './skills/skills.ts'

export interface LoadOptions {
  /** The maximum bytes that one read of a file or of a directory may return. */
  readonly maxResourceBytes: number
  /** The module that catalog modules get when they import 'trivet'. */
  readonly trivet: Namespace
  /**
   * How long one module may take to evaluate, in milliseconds. A module that never ends must not block later
   * reloads. 30,000 by default.
   */
  readonly moduleDeadlineMs?: number
  /** The `cacheScope` of what every caller gets alike. server.yaml can say otherwise. `public` by default. */
  readonly openCacheScope?: CacheScope
  /** The bound of what stays in memory of files that clients read. By default that of a replica. */
  readonly maxUnchangedBytes?: number
}

/** What the last load made of files. The next load uses it again for files with the same stamp. */
export interface ReadFiles {
  readonly fileDigests: FileDigests
  readonly sidecars: ParsedSidecars
  readonly apps: MadeApps
}

interface FolderLoad extends LoadOptions {
  readonly compiled: CompiledModules
  readonly readFiles: ReadFiles
  readonly unchangedFiles: UnchangedFiles<OutputContents>
  /** Called with each file that a module imports. */
  readonly onImport: (file: string) => void
}

/** The modules of a load. */
export interface LoadedModules {
  readonly graph: ModuleGraph
  /** Changes with every file that is no module. Modules may read such files when they are evaluated. */
  readonly otherFiles: string
}

interface Loaded {
  readonly contents: CatalogContents
  readonly modules: LoadedModules
  readonly watchIgnore: readonly string[]
}

const FOLDERS = ['tools', 'prompts', 'resources', SKILLS_FOLDER, APPS_FOLDER]
const MODULE = /\.(?:[cm]?[jt]s|[jt]sx)$/
const DECLARATION = /\.d\.[cm]?ts$/
const RESOURCE_MODULE = /\.resource\.(?:[cm]?[jt]s|[jt]sx)$/

const isModule = ({ path }: FolderFile) => MODULE.test(path) && !DECLARATION.test(path)
const isMarkdown = ({ path }: FolderFile) => path.endsWith('.md') && !isReadme(path)
const NO_MODULE = 'is no module: the names of modules end in .ts or .js, or such as .mts, .cjs or .tsx'

/** The modules of the `earlier` load are used again where nothing that they depend on has changed. */
export async function loadFolder (
  root: string, options: FolderLoad, earlier: LoadedModules | undefined
): Promise<Loaded> {
  await assertReadable(root)
  const { trivet, compiled, moduleDeadlineMs, onImport, readFiles } = options
  const fileOptions = { maxBytes: options.maxResourceBytes, unchangedFiles: options.unchangedFiles }
  const imported = new Set<string>()
  const graph = new ModuleGraph({
    root,
    provided: { trivet },
    registering: REGISTERING,
    compiled,
    onImport (file) {
      imported.add(file)
      onImport(file)
    },
    onPackage: noteSchemaLibrary,
    deadlineMs: moduleDeadlineMs
  })
  const reader = new CatalogReader(root, graph)
  const { problems, passedOver, foreignKeys } = reader
  const server = await reader.server(options.openCacheScope ?? 'public')
  const { openCacheScope } = server
  const files = await listFiles(reader)
  const sidecars = await readSidecars(
    files.plain, { ttlMs: server.readTtlMs, cacheScope: openCacheScope }, readFiles.sidecars,
    (path, place, rule) => problems.push({ file: `${FILES_FOLDER}/${path}`, place, rule })
  )
  const otherFiles = digestOf([server, files.prompts, files.plain, files.skills, files.apps])
  const unchanged: ReusableModules = earlier === undefined
    ? new Set()
    : await graph.findReusable(earlier.graph)
  if (earlier?.otherFiles === otherFiles) graph.reuse(unchanged)

  const markdownPrompts = await readModules(root, reader, files)
  graph.endLoading()
  passOverOthers(reader, files, imported)

  // Compiled here too: `read` and `complete` of plain files decide for each caller which files are there.
  const hierarchy = compileHierarchy(server.scopes, () => () => {})
  const plain = await openPlainFiles(join(root, 'resources'), sidecars, { ...fileOptions, hierarchy })
  for (const prompt of markdownPrompts) await reader.promptOf(prompt, plain, fileOptions.maxBytes)
  const skills = await readSkills(join(root, SKILLS_FOLDER), files.skills, {
    ...fileOptions, fileDigests: readFiles.fileDigests, openCacheScope, problems, passedOver, foreignKeys
  })
  const apps = await readApps(files.apps, {
    folder: join(root, APPS_FOLDER),
    serverName: server.info.name,
    cache: { ttlMs: server.readTtlMs, cacheScope: openCacheScope },
    maxResourceBytes: fileOptions.maxBytes,
    madeApps: readFiles.apps,
    problems,
    passedOver
  })
  problems.push(...await findAppProblems(root, reader.tools, apps.byName, hierarchy))
  const plainFiles = await plain.define()
  const folderOfFiles = { file: `${FILES_FOLDER}/`, place: '' }
  const hasFiles = sidecars.files.length > 0

  const contents = {
    server,
    tools: await addFingerprints(reader.tools, { root, graph, fileDigests: readFiles.fileDigests }),
    prompts: reader.prompts,
    resources: [
      ...reader.resources, ...plainFiles.resources, ...skills.resources, ...apps.resources
    ],
    apps: apps.byName,
    unlisted: [
      ...hasFiles
        ? plain.directories(reader.templates).map((definition) => ({ definition, ...folderOfFiles }))
        : [],
      ...skills.directories
    ],
    templates: [
      ...reader.templates, ...(hasFiles ? [{ definition: plain.template(), ...folderOfFiles }] : [])
    ],
    skills: skills.skills,
    ...await findRegistered(root, graph.loaded()),
    unchangedModules: await namesOf(root, unchanged),
    stamps: new Map([...plainFiles.stamps, ...skills.stamps, ...apps.stamps]),
    ...await digestFiles(root, {
      modules: graph.files,
      imported,
      files: [...files.prompts, ...files.plain, ...skills.files, ...files.apps],
      fileDigests: readFiles.fileDigests
    }),
    passedOver,
    foreignKeys,
    leftOut: skills.leftOut,
    problems
  }
  for (const values of [compiled, ...Object.values(readFiles)]) values.forgetUnused()
  return { contents, modules: { graph, otherFiles }, watchIgnore: server.watchIgnore }
}

/** The files of the folders that hold parts of a catalog. */
interface PartFiles {
  readonly tools: readonly FolderFile[]
  readonly promptModules: readonly FolderFile[]
  /** The prompts that are no modules. */
  readonly prompts: readonly FolderFile[]
  readonly resourceModules: readonly FolderFile[]
  readonly plain: readonly FolderFile[]
  readonly skills: readonly FolderFile[]
  readonly apps: readonly FolderFile[]
}

async function listFiles (reader: CatalogReader): Promise<PartFiles> {
  const [tools = [], prompts = [], resources = [], skills = [], apps = []] = await Promise.all(
    FOLDERS.map(async (folder) => await reader.files(folder))
  )
  const isResourceModule = ({ path }: FolderFile) => RESOURCE_MODULE.test(path)
  return {
    tools,
    promptModules: prompts.filter(isModule),
    prompts: prompts.filter((file) => !isModule(file)),
    resourceModules: resources.filter(isResourceModule),
    plain: resources.filter((file) => !isResourceModule(file)),
    skills,
    apps
  }
}

/** Resolves to the Markdown prompts: they are definitions once the files that they embed are known. */
async function readModules (
  root: string, reader: CatalogReader, { tools, promptModules, prompts, resourceModules }: PartFiles
): Promise<readonly MarkdownPrompt[]> {
  const toolModules = tools.filter(isModule)
  const markdownPrompts: MarkdownPrompt[] = []
  for (const file of prompts.filter(isMarkdown)) {
    const prompt = await reader.markdownPrompt('prompts', file)
    if (prompt !== undefined) markdownPrompts.push(prompt)
  }
  const completing = markdownPrompts.flatMap(({ completions }) => [...completions.values()])
  await reader.start([
    ...toolModules, ...promptModules, ...resourceModules,
    ...completing.map(({ path }) => ({ absolutePath: join(root, path) }))
  ])
  for (const file of toolModules) await reader.module('tools', file, ['tool'])
  for (const file of promptModules) await reader.module('prompts', file, ['prompt'])
  for (const file of resourceModules) {
    await reader.module('resources', file, ['resource', 'resource-template'])
  }
  return markdownPrompts
}

function passOverOthers (
  reader: CatalogReader, { tools, prompts }: PartFiles, imported: ReadonlySet<string>
): void {
  // A declaration file is no part, and nobody expects it to be one.
  const isOther = ({ path }: FolderFile) => !MODULE.test(path)
  reader.passOver('tools', tools.filter(isOther), imported, NO_MODULE)
  reader.passOver(
    'prompts', prompts.filter((file) => isOther(file) && !isMarkdown(file)), imported,
    `${NO_MODULE}; and it is not Markdown, whose names end in .md`
  )
}

/** Returns the paths in the folder. */
async function namesOf (root: string, modules: ReusableModules): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const file of filesOf(modules)) {
    const turn = yieldToRequests()
    if (turn !== undefined) await turn
    names.add(relative(root, file))
  }
  return names
}

function digestOf (values: unknown): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64')
}
