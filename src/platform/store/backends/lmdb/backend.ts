import type { Backend } from '../backend.ts'

export const lmdbBackend: Backend = {
  schemes: ['file'],
  form: 'file:PATH',
  rest: /^.+$/,
  isShared: false,
  async open (url, options) {
    const { openLmdbBackend } = await import('./open.ts').catch((cause: unknown) => {
      const advice = 'Install the packages with their optional ones, or name another store'
      throw new Error(`TRIVET_STATE_URL: ${url} needs the package lmdb and its compiled part for this ` +
        `platform, and Node cannot load them. ${advice}`, { cause })
    })
    return await openLmdbBackend(url, options)
  }
}
