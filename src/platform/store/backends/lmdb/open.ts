import { createLocalParts, toOpenedBackend, type OpenBackend } from '../backend.ts'
import { removeEmptyFolders } from './folder.ts'
import { readKeptSecret } from './secret.ts'
import { claimFolder, claimNameOf } from './sole-process.ts'
import { openLmdbStateStore } from './state-store.ts'

/** `file:PATH` keeps records in a folder. Everything else exists in this process only. */
export const openLmdbBackend: OpenBackend = async (url, options) => {
  const { log, prefix, eventLogLimits } = options
  const folder = url.slice('file:'.length)
  const store = openLmdbStateStore(folder, {
    prefix, onBroken: (err) => log.warn({ err }, 'state is not available any more')
  })
  const claim = await claimFolder(folder, prefix, store.exclusively).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  return toOpenedBackend({
    ...createLocalParts(eventLogLimits),
    // A start that fails leaves no folder behind in which nothing was kept.
    store: { ...store, close: async () => await store.closeAndTidy(claimNameOf(prefix)) },
    dueTimes: store.dueTimes,
    folder,
    readKeptSecret: () => readKeptSecret(folder, prefix)
  }, async () => {
    await claim.release()
    if (store.created !== undefined) removeEmptyFolders(folder, store.created)
  })
}
