import type { StorageKind } from '../storage.ts'

export const s3Storage: StorageKind = {
  scheme: 's3',
  form: 's3://BUCKET/PREFIX, with ?region= and ?endpoint= where needed',
  rest: /^\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[^?#\s]*)?(?:\?[^#\s]*)?$/,
  isLocal: false,
  open: async (url, readVariable) => await (await import('./open.ts')).openS3Storage(url, readVariable)
}
