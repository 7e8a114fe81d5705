// Opens large files. The storage is opened when the first file needs it, unless a setting
// names it.

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { isLocal } from '../base/addresses.ts'
import { clock as systemClock, type Clock } from '../base/time.ts'
import { messageOf } from '../base/words.ts'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import { openCatalogFile } from '../request/pipeline/resource-access.ts'
import { createSettingReader, type Variables } from '../catalog/folder/environment-settings.ts'
import { createFileAccess } from '../features/files/file-access.ts'
import type { FileRoom } from '../features/files/file-room.ts'
import { createLinks } from '../features/files/links.ts'
import { isLocalUrl, openStorage } from '../features/files/url-schemes.ts'
import { registerFiles } from '../edges/files/routes.ts'
import { partOf } from '../platform/limits/limits.ts'
import { ConfigError, type ServiceConfig } from '../ops/config/config.ts'
import type { OpenedBackend } from '../platform/store/backends/backend.ts'
import { isSharedUrl } from '../platform/store/backends/url-schemes.ts'
import type { Sealer } from '../platform/store/sealing/sealer.ts'
import type { ServedFiles } from './features.ts'

interface FilesDependencies {
  readonly backend: OpenedBackend
  readonly sealer: Sealer
  readonly catalog: Catalog
  readonly environment: Variables
  readonly log: FastifyBaseLogger
  readonly clock: Clock
}

const NO_STORAGE = 'TRIVET_FILES_URL is not set, but TRIVET_STATE_URL is shared: ' +
  'replicas must share files too. Name a folder that all replicas have (file:PATH), or a bucket (s3://BUCKET)'
const NO_URL = 'TRIVET_PUBLIC_URL is not set, so the service does not know the URL of its files. ' +
  'Set it to the URL of the endpoint for clients, such as https://mcp.example.com/mcp'

/** The least that a worker has of the limit: two parts of files. */
const MIN_PART_BYTES = 16_777_216

/** Rejects with a ConfigError if the storage that a setting names cannot be used. */
export async function openFiles (
  config: ServiceConfig, { backend, sealer, catalog, environment, log, clock }: FilesDependencies
): Promise<ServedFiles> {
  const { filesUrl, stateUrl, publicUrl, path, maxFileBytes, maxFileBytesPerCaller } = config
  const { now = systemClock.now } = clock
  let findAddress = (): AddressInfo | string | null => null
  let opening: Promise<FileRoom> | undefined

  function findUrl (): string {
    if (publicUrl !== undefined) return `${publicUrl}/files`
    const address = findAddress()
    if (typeof address !== 'object' || address === null || !isLocal(address)) throw new Error(NO_URL)
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return `http://${host}:${address.port}${toFolder(path)}/files`
  }

  const links = createLinks(sealer, findUrl)

  async function open (): Promise<FileRoom> {
    const { storage, remove } = await openConfiguredStorage()
    const limits = {
      maxFileBytes,
      maxFileBytesPerCaller,
      uploadTtlMs: config.requestStateTtlMs,
      maxPartBytes: Math.max(partOf('partBytes', config.workerCount), MIN_PART_BYTES)
    }
    const { store, broadcast } = backend
    const { createFileRoom } = await import('../features/files/file-room.ts')
    const room = createFileRoom({ storage, store, broadcast, links, limits, log, now })
    return {
      ...room,
      async close () {
        await room.close()
        await remove()
      }
    }
  }

  async function openConfiguredStorage () {
    const keep = async () => {}
    const url = filesUrl ?? beside
    if (url !== undefined) return { storage: await openStorage(url, readVariable), remove: keep }
    if (isSharedUrl(stateUrl)) throw new Error(NO_STORAGE)
    const folder = await mkdtemp(join(tmpdir(), 'trivet-files-'))
    return {
      storage: await openStorage(`file:${folder}`, readVariable),
      remove: async () => await rm(folder, { recursive: true, force: true })
    }
  }

  const readSetting = createSettingReader(environment)
  async function readVariable (name: string): Promise<string | undefined> {
    const setting = await readSetting(name)
    if ('problem' in setting) throw new Error(`${name} ${setting.problem}`)
    return setting.text
  }

  /** A storage that could not be opened is tried again. */
  const openRoom = async () => await (opening ??= open().catch((error: unknown) => {
    opening = undefined
    throw error
  }))

  const beside = backend.folder === undefined ? undefined : `file:${join(backend.folder, 'files')}`
  if (filesUrl !== undefined) {
    await openRoom().catch((cause: unknown) => {
      const reason = messageOf(cause)
      const problem = /^(?:TRIVET|AWS)_/.test(reason) ? reason : `TRIVET_FILES_URL=${reason}`
      throw new ConfigError([problem], { cause })
    })
    if (isLocalUrl(filesUrl) && isSharedUrl(stateUrl)) {
      log.info({ url: filesUrl }, 'files are in a folder: all replicas must share it')
    }
  } else if (beside !== undefined && existsSync(beside.slice('file:'.length))) {
    // Files of an earlier process expire too.
    await openRoom()
  }

  return {
    access: createFileAccess({ links, openRoom, maxEmbeddedBytes: config.maxEmbeddedBytes, now }),
    register (app, dependencies) {
      findAddress = () => app.server.address()
      const openServer = async () => (await import('../features/files/file-server.ts')).createFileServer(
        links, openRoom, async (uri, scopes) => await openCatalogFile(catalog.current, uri, scopes)
      )
      const title = () => catalog.current.server.info.title ?? catalog.current.server.info.name
      const paths = [path, ...publicUrl === undefined ? [] : [new URL(publicUrl).pathname]]
      for (const prefix of new Set(paths.map((prefixPath) => `${toFolder(prefixPath)}/files`))) {
        const { filesToken: token } = config
        registerFiles(app, prefix, { ...dependencies, openServer, title, publicUrl, token })
      }
    },
    async close () {
      await (await opening?.catch(() => undefined))?.close()
    }
  }
}

/** Removes the slash at the end. */
function toFolder (path: string): string {
  return path.replace(/\/+$/, '')
}
