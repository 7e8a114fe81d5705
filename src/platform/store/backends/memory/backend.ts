import { createLocalParts, toOpenedBackend, type Backend } from '../backend.ts'

/** `memory:` exists in this process only. No other service shares it, so the prefix is not used. */
export const memoryBackend: Backend = {
  schemes: ['memory'],
  form: 'memory:',
  rest: /^$/,
  isShared: false,
  async open (_url, options) {
    const { createMemoryStateStore } = await import('./state-store.ts')
    return toOpenedBackend({
      ...createLocalParts(options.eventLogLimits, options.clock),
      store: createMemoryStateStore(options.clock)
    })
  }
}
