import { createLocalParts, toOpenedBackend, type Backend } from '../backend.ts'

export const jsonBackend: Backend = {
  schemes: ['json'],
  form: 'json:FILE',
  rest: /^.+$/,
  isShared: false,
  async open (url, { eventLogLimits }) {
    const { openJsonStateStore } = await import('./state-store.ts')
    const store = openJsonStateStore(url.slice('json:'.length))
    return toOpenedBackend({ ...createLocalParts(eventLogLimits), store })
  }
}
