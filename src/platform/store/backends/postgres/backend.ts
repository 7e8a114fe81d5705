import type { Backend } from '../backend.ts'

export const postgresBackend: Backend = {
  schemes: ['postgres', 'postgresql'],
  form: 'an address of PostgreSQL such as postgres://user@host/database',
  rest: /^\/\/\S+$/,
  isShared: true,
  open: async (url, options) => await (await import('./open.ts')).openPostgresBackend(url, options),
  writeSchema: async (prefix, role) => (await import('./schema/schema-text.ts')).toSchemaText(prefix, role)
}
