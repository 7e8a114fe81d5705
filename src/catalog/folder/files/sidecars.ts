// Reads sidecars: `page.md.meta.yaml` describes the plain file page.md, and `folder.meta.yaml` holds for all
// files in its folder and below.

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parse } from 'yaml'
import type { Generations } from '../../../base/generations.ts'
import type { CacheHints } from '../../../platform/protocol/primitives.ts'
import { fileSettings, folderSettings } from '../../compiled/definitions/definition-shapes.ts'
import { createSettingsReader } from '../settings-reader.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import { placeOf, ruleOf } from '../error-problem.ts'
import {
  mergeFile, mergeFolder, type FileSettings, type FileSidecar, type FolderSettings, type FolderSidecar
} from './file-settings.ts'
import { parentOf, type FolderFile } from './folder-files.ts'

const { basename, join } = posix
const ENDING = '.meta.yaml'
const FOLDER_SIDECAR = `folder${ENDING}`
/** Also the endings that people confuse with it: a misspelt name must not leave a file open to everyone. */
const LIKE_SIDECAR = /\.meta\.ya?ml$/i
const MAX_BYTES = 65_536

const readFile = createSettingsReader(fileSettings)
const readFolder = createSettingsReader(folderSettings)

/** Reports a problem of a file. The path is relative to the folder of the plain files. */
export type ReportFile = (path: string, place: string, rule: string) => void

export interface Sidecars {
  /** The files that are no sidecars. */
  readonly files: readonly FolderFile[]
  /** What holds for the whole folder of plain files. */
  readonly folder: FolderSettings
  /** @param path of a file, relative to the folder of the plain files. */
  settingsOf (path: string): FileSettings
}

/** Whether the name of a file under resources/ is that of a sidecar, or like one. */
export function isSidecar (path: string): boolean {
  return LIKE_SIDECAR.test(path)
}

/** The parsed YAML of sidecars by path. */
export type ParsedSidecars = Generations<unknown>

/** Throws if the file cannot be read or is not YAML. */
function parseSidecar ({ absolutePath, size, stamp }: FolderFile, parsed: ParsedSidecars): unknown {
  const earlier = parsed.get(absolutePath, stamp)
  if (earlier !== undefined) return earlier
  if (size > MAX_BYTES) throw new SyntaxError(`must have at most ${MAX_BYTES} bytes, got ${size}`)
  return parsed.set(absolutePath, parse(readFileSync(absolutePath, 'utf8')) ?? {}, stamp)
}

/**
 * @param listed the files of a folder, with their sidecars.
 * @param cache how long clients may keep the contents of a file by default, and for whom.
 */
export async function readSidecars (
  listed: readonly FolderFile[], cache: CacheHints, parsed: ParsedSidecars, report: ReportFile
): Promise<Sidecars> {
  const files = listed.filter(({ path }) => !isSidecar(path))
  const paths = new Set(files.map(({ path }) => path))
  const ofFiles = new Map<string, FileSidecar>()
  const ofFolders = new Map<string, FolderSidecar>()
  const dataOf = (file: FolderFile) => parseSidecar(file, parsed)
  for (const file of listed) {
    const { path } = file
    if (!isSidecar(path)) continue
    await yieldToRequests()
    const target = path.slice(0, -ENDING.length)
    try {
      if (!path.endsWith(ENDING)) throw new SyntaxError(`is named like a sidecar: sidecars end in ${ENDING}`)
      if (basename(path) === FOLDER_SIDECAR) ofFolders.set(parentOf(path), readFolder(dataOf(file)))
      else if (paths.has(target)) ofFiles.set(target, readFile(dataOf(file)))
      else throw new SyntaxError(`describes ${basename(target)}, and no plain file beside it has this name`)
    } catch (error) {
      report(path, placeOf(error, file.absolutePath), ruleOf(error))
    }
  }

  const defaults: FolderSettings = {
    scopes: [], whenMissing: undefined, ...cache, audience: undefined
  }
  const folders = new Map<string, FolderSettings>()
  function settingsOfFolder (path: string): FolderSettings {
    const existing = folders.get(path)
    if (existing !== undefined) return existing
    const above = path === '' ? defaults : settingsOfFolder(parentOf(path))
    const sidecar = ofFolders.get(path)
    const settings = sidecar === undefined
      ? above
      : mergeFolder(above, sidecar, (rule) => report(join(path, FOLDER_SIDECAR), '', rule))
    folders.set(path, settings)
    return settings
  }
  // A folder without plain files can have problems too.
  for (const path of ofFolders.keys()) settingsOfFolder(path)

  return {
    files,
    folder: settingsOfFolder(''),
    settingsOf: (path) => mergeFile(
      settingsOfFolder(parentOf(path)), ofFiles.get(path) ?? {},
      (rule) => report(`${path}${ENDING}`, '', rule)
    )
  }
}
