import type { StorageKind } from '../storage.ts'

export const folderStorage: StorageKind = {
  scheme: 'file',
  form: 'file:PATH',
  rest: /^.+$/,
  isLocal: true,
  open: async (url) => await (await import('./open.ts')).openFolderStorage(url.slice('file:'.length))
}
