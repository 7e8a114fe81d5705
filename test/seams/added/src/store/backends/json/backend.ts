import type { Backend } from '../backend.ts'

export const jsonBackend: Backend = {
  schemes: ['json'],
  form: 'json:FILE',
  rest: /^.+$/,
  isShared: false,
  open: async (url, options) => await (await import('./open.ts')).openJsonBackend(url, options)
}
