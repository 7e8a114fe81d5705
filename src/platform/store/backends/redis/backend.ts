import type { Backend } from '../backend.ts'

export const redisBackend: Backend = {
  schemes: ['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'],
  form: 'an address of Redis such as redis://host:6379',
  rest: /^\/\/\S+$/,
  isShared: true,
  open: async (url, options) => await (await import('./open.ts')).openRedisBackend(url, options)
}
