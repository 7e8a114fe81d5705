// The apps of a catalog: each folder in apps/ with an index.html is a screen, and becomes one resource.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

import { hash } from 'node:crypto'
import { join } from 'node:path'
import { defineResource, type ResourceDefinition } from '../../../platform/author/define-resource.ts'
import type { Generations } from '../../../base/generations.ts'
import { APP_TYPE } from '../../../platform/protocol/apps.ts'
import type { CacheHints } from '../../../platform/protocol/primitives.ts'
import type { CatalogApp, Located, PassedOver } from '../../compiled/contents.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import { isReadme } from '../catalog-parts.ts'
import type { FileFindings } from '../error-problem.ts'
import type { FileResources } from '../files/file-contents.ts'
import type { FolderFile } from '../files/folder-files.ts'
import { INDEX, openAppFiles, ruleOfApp, type ReportApp } from './app-files.ts'
import { APP_FILE, MAX_APP_YAML_BYTES, readAppYaml, toResourceMeta, type AppSettings } from './app-yaml.ts'

export const APPS_FOLDER = 'apps'

/** The most bytes of a document, and of the files of one app that are put into it. */
const MAX_DOCUMENT_BYTES = 4_194_304
const MAX_FILES = 1000
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/

interface Apps extends FileResources {
  /** The apps by the names of their folders. */
  readonly byName: ReadonlyMap<string, CatalogApp>
}

/** The apps by name. */
export type MadeApps = Generations<MadeApp>

interface MadeApp { readonly settings: AppSettings, readonly html: string }

interface ReadAppsOptions extends FileFindings {
  /** The folder of the apps. */
  readonly folder: string
  readonly serverName: string
  /** How long clients may keep the page of an app by default, and for whom if it needs no scopes. */
  readonly cache: CacheHints
  /** The most bytes that one read of a resource may return. */
  readonly maxResourceBytes: number
  readonly madeApps: MadeApps
}

/** @param listed the files of the folder. */
export async function readApps (
  listed: readonly FolderFile[],
  { folder, serverName, cache, maxResourceBytes, madeApps, problems, passedOver }: ReadAppsOptions
): Promise<Apps> {
  const maxBytes = Math.min(MAX_DOCUMENT_BYTES, maxResourceBytes)
  const resources: Array<Located<ResourceDefinition>> = []
  const byName = new Map<string, CatalogApp>()
  const stamps = new Map<string, string>()
  for (const [name, files] of toFolders(listed, passedOver)) {
    await yieldToRequests()
    const report: ReportApp = (path, at, rule) => problems.push({
      file: `${APPS_FOLDER}/${name}/${path}`,
      place: at === undefined ? '' : `line ${at.line}`,
      ...(at?.column !== undefined && { column: at.column }),
      rule
    })
    const state = JSON.stringify([files.map(({ path, stamp }) => [path, stamp]), maxBytes])
    const app = madeApps.get(name, state) ??
      await makeApp(join(folder, name), name, files, maxBytes, report)
    // An app with a problem has a URI too: the tools that name it have no problem of their own.
    const uri = toAppUri(serverName, name)
    byName.set(name, { uri, scopes: app?.settings.scopes ?? [] })
    if (app === undefined) continue
    madeApps.set(name, app, state)
    const definition = defineApp(name, uri, app, cache)
    resources.push({ definition, file: `${APPS_FOLDER}/${name}/${INDEX}`, place: '' })
    stamps.set(uri, hash('sha256', JSON.stringify([app.html, definition._meta])))
  }
  return { resources, byName, stamps }
}

/** The files of each app, by its name. The paths are relative to its folder. */
function toFolders (
  listed: readonly FolderFile[], passedOver: PassedOver[]
): ReadonlyMap<string, readonly FolderFile[]> {
  const folders = new Map<string, FolderFile[]>()
  for (const file of listed) {
    const slash = file.path.indexOf('/')
    if (slash !== -1) {
      const name = file.path.slice(0, slash)
      const files = folders.get(name) ?? []
      files.push({ ...file, path: file.path.slice(slash + 1) })
      folders.set(name, files)
    } else if (!isReadme(file.path)) {
      const reason = `belongs to no app: each app has a folder with an ${INDEX}`
      passedOver.push({ file: `${APPS_FOLDER}/${file.path}`, reason })
    }
  }
  return folders
}

/** `undefined` if a problem was reported. */
async function makeApp (
  folder: string, name: string, listed: readonly FolderFile[], maxBytes: number, report: ReportApp
): Promise<MadeApp | undefined> {
  const yaml = listed.find(({ path }) => path === APP_FILE)
  const refuse = (path: string, rule: string) => {
    report(path, undefined, rule)
    return undefined
  }
  if (!NAME.test(name)) {
    return refuse('', 'names an app by up to 64 letters, digits, and signs ., _ and - between them')
  }
  if (listed.length > MAX_FILES) {
    return refuse('', `has ${listed.length} files: an app may have ${MAX_FILES}`)
  }
  if (yaml !== undefined && yaml.size > MAX_APP_YAML_BYTES) {
    return refuse(APP_FILE, `must have at most ${MAX_APP_YAML_BYTES} bytes, got ${yaml.size}`)
  }
  if (!listed.some(({ path }) => path === INDEX)) {
    return refuse(INDEX, 'does not exist: each folder in apps/ is an app, and needs it')
  }
  try {
    // The bytes of app.yaml do not count as bytes of the document.
    const yamlFiles = await openAppFiles(folder, listed, { csp: {}, maxBytes: MAX_APP_YAML_BYTES })
    const text = yaml === undefined ? '' : await yamlFiles.readText(APP_FILE)
    const settings = readAppYaml(text, report)
    if (settings === undefined) return undefined
    const files = await openAppFiles(folder, listed, { csp: settings.csp ?? {}, maxBytes })
    // Loaded for the first app: a catalog without apps needs no parser of HTML.
    const { makeDocument } = await import('./document.ts')
    const html = await makeDocument(files, maxBytes, report)
    return html === undefined ? undefined : { settings, html }
  } catch (error) {
    return refuse(INDEX, ruleOfApp(error))
  }
}

/** The name of a server may have characters that a URI must not have there. */
function toAppUri (serverName: string, name: string): string {
  const host = serverName.replaceAll(/[^A-Za-z0-9._~-]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return `ui://${host === '' ? 'trivet' : host}/${name}`
}

function defineApp (
  name: string, uri: string, { settings, html }: MadeApp, defaults: CacheHints
): ResourceDefinition {
  const {
    csp: _csp, permissions: _permissions, domain: _domain, prefersBorder: _border, cache, scopes = [],
    ...entry
  } = settings
  const ui = toResourceMeta(settings)
  const meta = ui === undefined ? {} : { _meta: { ui } }
  const contents = [{ uri, mimeType: APP_TYPE, text: html, ...meta }]
  return defineResource({
    name,
    ...entry,
    ...meta,
    uri,
    mimeType: APP_TYPE,
    scopes,
    cache: {
      ttlMs: cache?.ttlMs ?? defaults.ttlMs,
      cacheScope: scopes.length > 0 ? 'private' : cache?.cacheScope ?? defaults.cacheScope
    },
    // Without a size: an edit would change the list, and not only the contents.
    read: () => contents
  })
}
