// The skills of a catalog, and their files as resources. What hosts compare with the files, such as their
// digests, is found once for each load.
// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx

import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { defineResource, type ResourceDefinition } from '../../../platform/author/define-resource.ts'
import { DIRECTORY_TYPE } from '../../../base/media-types.ts'
import type { CacheHints, CacheScope } from '../../../platform/protocol/primitives.ts'
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, type SkillResource } from '../../../platform/protocol/skills.ts'
import type { ForeignKeys, Located, LocatedResource, SkillDefinition } from '../../compiled/contents.ts'
import type { Problem } from '../../compiled/problem.ts'
import { toFileProblem, type FileFindings } from '../error-problem.ts'
import { createFileReader, type FileReaderOptions, type FileResources } from '../files/file-contents.ts'
import type { FileDigests } from '../files/file-digests.ts'
import { findDirectories, type FolderFile } from '../files/folder-files.ts'
import { findSkillFolders, type SkillFolder } from './skill-folders.ts'
import { readSkillMatter, type SkillAccess, type SkillMatter } from './skill-matter.ts'

const { basename, join } = posix

export const SKILLS_FOLDER = 'skills'

interface SkillsOptions extends FileFindings, FileReaderOptions {
  readonly fileDigests: FileDigests
  /** The `cacheScope` of skills that no scope decides about. */
  readonly openCacheScope: CacheScope
  /** Collects the skills with keys in their front matter that Agent Skills does not have. */
  readonly foreignKeys: ForeignKeys[]
}

interface Skills extends FileResources {
  readonly skills: ReadonlyArray<Located<SkillDefinition>>
  /** The directories of skills, as resources that are not listed. */
  readonly directories: ReadonlyArray<Located<ResourceDefinition>>
  /** What is wrong with the skills that are left out. */
  readonly leftOut: readonly Problem[]
  /** The files of all skills, each once. */
  readonly files: readonly FolderFile[]
}

/** A skill whose front matter breaks no rule. */
interface ReadSkill extends SkillFolder, SkillMatter {}

/** Reports a problem of a skill. The outermost skill around it is left out, with all skills in it. */
type ReportBroken = (outermost: string | undefined, problem: Problem) => void

/**
 * Leaves out the skills that break a rule: the other skills and the rest of the catalog serve. Each replica
 * leaves out the same, because the rules are about the bytes of the files. A file that cannot be read is a
 * problem of the catalog.
 * @param folder the absolute path of skills/.
 * @param listed the files below it, in the order of their paths.
 */
export async function readSkills (
  folder: string, listed: readonly FolderFile[], options: SkillsOptions
): Promise<Skills> {
  const leftOut: Problem[] = []
  const broken = new Set<string | undefined>()
  const report: ReportBroken = (outermost, problem) => {
    broken.add(outermost)
    leftOut.push(problem)
  }
  const folders = findSkillFolders(listed, {
    onProblem: (path, rule, outermost) => report(outermost, { file: toFile(path), place: '', rule }),
    onPassedOver: (path, reason) => options.passedOver.push({ file: toFile(path), reason })
  })
  const all = new Map<string, ReadSkill>()
  for (const folder of folders) {
    const matter = await readMatter(folder, options.problems, report)
    if (matter !== undefined) all.set(folder.path, { ...folder, ...matter })
  }
  for (const skill of all.values()) checkSkill(skill, options.maxBytes, report)
  // A skill within a broken one has files of that one too, and the broken one may have said who sees them.
  const skills = new Map([...all].filter(([, { outermost }]) => !broken.has(outermost)))
  const { manifest, resources, stamps } = await readFiles(folder, skills, options)
  return {
    skills: [...skills.values()].map((skill) => {
      const { main, frontmatter, outermost, foreignKeys: keys } = skill
      if (keys.length > 0) options.foreignKeys.push({ file: toFile(main.path), keys })
      const definition = {
        uri: toSkillUri(main.path),
        frontmatter,
        resources: skill.files.flatMap((file) => manifest.get(file) ?? []),
        ...skills.get(outermost)?.access
      }
      return { definition, file: toFile(main.path), place: '' }
    }),
    resources,
    directories: [...skills.values()].filter(isOutermost).flatMap(
      (skill) => toDirectories(skill, options.openCacheScope)
    ),
    stamps,
    leftOut,
    files: [...manifest.keys()]
  }
}

/** `undefined` if the front matter has a problem. Every problem has then been reported. */
async function readMatter (
  { main: { path: mainPath, absolutePath }, path, outermost }: SkillFolder, problems: Problem[],
  reportBroken: ReportBroken
): Promise<SkillMatter | undefined> {
  const file = toFile(mainPath)
  let report = (problem: Problem): void => { problems.push(problem) }
  try {
    const bytes = await readFile(absolutePath)
    report = (problem) => reportBroken(outermost, problem)
    if (!isUtf8(bytes)) throw new SyntaxError('must be text in UTF-8')
    return readSkillMatter(bytes.toString(), basename(path), (place, rule) => report({ file, place, rule }))
  } catch (error) {
    report(toFileProblem(error, file, absolutePath))
    return undefined
  }
}

function checkSkill (skill: ReadSkill, maxBytes: number, report: ReportBroken): void {
  const { main, path, files, access, outermost } = skill
  const tell = (place: string, rule: string) => report(outermost, { file: toFile(main.path), place, rule })
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (files.length > MAX_SKILL_FILES) {
    tell('', `the skill may have ${MAX_SKILL_FILES} files, got ${files.length}: hosts need not accept more`)
  }
  if (bytes > MAX_SKILL_BYTES) {
    tell('', `the files may have ${MAX_SKILL_BYTES} bytes together, got ${bytes}: hosts need not accept more`)
  }
  for (const { path: file, size } of isOutermost(skill) ? files : []) {
    if (size <= maxBytes) continue
    const rule = `has ${size} bytes, and clients may read ${maxBytes} (TRIVET_MAX_RESOURCE_BYTES)`
    report(outermost, { file: toFile(file), place: '', rule })
  }
  // Otherwise a caller would get files of the outer skill that it may not read, or none of a hidden one.
  if (access !== undefined && outermost !== path) {
    tell('metadata', `the skill ${outermost} has these files too: only its SKILL.md can say who sees them`)
  }
}

interface SkillFiles extends FileResources {
  readonly manifest: ReadonlyMap<FolderFile, SkillResource>
}

async function readFiles (
  folder: string, skills: ReadonlyMap<string, ReadSkill>, options: SkillsOptions
): Promise<SkillFiles> {
  const { fileDigests, openCacheScope, problems } = options
  const { typeOf, read, bytesOf } = await createFileReader(folder, options)
  const byMain = new Map([...skills.values()].map((skill) => [skill.main, skill]))
  const manifest = new Map<FolderFile, SkillResource>()
  const resources: LocatedResource[] = []
  const stamps = new Map<string, string>()
  // Each file is in one of the outermost skills.
  const all = [...skills.values()].filter(isOutermost)
  const guarded = all.flatMap(({ files, access }) => files.map((file) => ({ file, access })))
  for (const { file, access } of guarded) {
    const { path, size } = file
    const uri = toSkillUri(path)
    const digest = await fileDigests.of(file)
    if (digest === '') problems.push({ file: toFile(path), place: '', rule: 'cannot be read' })
    const typed = { ...file, mimeType: typeOf(file) }
    const { name, description } = byMain.get(file)?.frontmatter ?? { name: basename(path) }
    const definition = defineResource({
      name,
      ...(description !== undefined && { description }),
      ...access,
      uri,
      mimeType: typed.mimeType,
      size,
      cache: toCache(access, openCacheScope),
      read: () => read(typed, uri)
    })
    manifest.set(file, { uri, digest: `sha256:${digest}`, size })
    resources.push({ definition, bytes: bytesOf(file), file: toFile(path), place: '' })
    stamps.set(uri, `${digest} ${typed.mimeType}`)
  }
  return { manifest, resources, stamps }
}

function isOutermost ({ path, outermost }: ReadSkill): boolean {
  return path === outermost
}

function toCache (
  access: SkillAccess | undefined, openCacheScope: CacheScope
): Pick<CacheHints, 'cacheScope'> {
  return { cacheScope: access === undefined ? openCacheScope : 'private' }
}

/** A directory reads as the names in it, so that clients without the extension find the files too. */
function toDirectories (
  { path: root, files, main, access }: ReadSkill, openCacheScope: CacheScope
): Array<Located<ResourceDefinition>> {
  const within = [...findDirectories(files)].filter(([path]) => path === root || path.startsWith(`${root}/`))
  return within.map(([path, directory]) => {
    const uri = toSkillUri(path)
    const names = [
      ...directory.files.map((file) => basename(file.path)),
      ...directory.directories.map((inner) => `${basename(inner)}/`)
    ]
    const text = `${names.toSorted().join('\n')}\n`
    const definition = defineResource({
      name: basename(path),
      ...access,
      uri,
      mimeType: DIRECTORY_TYPE,
      cache: toCache(access, openCacheScope),
      read: () => text
    })
    return { definition, file: toFile(main.path), place: '' }
  })
}

/** @param path relative to skills/. */
function toFile (path: string): string {
  return join(SKILLS_FOLDER, path)
}

function toSkillUri (path: string): string {
  return `skill://${path.split('/').map(encodeURIComponent).join('/')}`
}
