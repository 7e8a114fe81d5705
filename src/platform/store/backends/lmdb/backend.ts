import type { Backend } from '../backend.ts'

export const lmdbBackend: Backend = {
  schemes: ['file'],
  form: 'file:PATH',
  rest: /^.+$/,
  isShared: false,
  open: async (url, options) => await (await import('./open.ts')).openLmdbBackend(url, options)
}
