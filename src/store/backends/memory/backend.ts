import type { Backend } from '../backend.ts'

export const memoryBackend: Backend = {
  schemes: ['memory'],
  form: 'memory:',
  rest: /^$/,
  isShared: false,
  open: async (url, options) => await (await import('./open.ts')).openMemoryBackend(url, options)
}
