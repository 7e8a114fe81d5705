// A catalog whose primitives need scopes, and callers with the scopes of their Authorization header.

import type { FastifyInstance } from 'fastify'
import type { Authenticator } from '../../../src/platform/access/authentication.ts'
import type { Files } from '../../helpers/catalog-folder.ts'
import { send, type Message } from '../../helpers/request.ts'

export const scopesOf = (text: string): ReadonlySet<string> => new Set(
  text.split(' ').filter((scope) => scope !== '')
)

/** Grants the scopes that the header has. */
export const authenticator: Authenticator = {
  admitsAnonymous: true,
  authenticate: (authorization = '') => ({ subject: 'someone', scopes: scopesOf(authorization) })
}

export const moduleOf =
  (text: string): string =>
    `import { definePrompt, defineResource, defineResourceTemplate, defineTool } from 'trivet'\n${text}\n`

export const CATALOG: Files = {
  'tools/all.ts': moduleOf(`
  const inputSchema = {
    type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }
  }
  const sampling = { requiredCapabilities: { sampling: {} } }
  const scopes = ['docs:read', 'docs:write']
  export default [
    defineTool({ name: 'open', run: () => 'open' }),
    defineTool({ name: 'read', scopes: ['docs:read'], run: () => 'read' }),
    defineTool({ name: 'both', scopes, inputSchema, ...sampling, run: () => 'both' })
  ]`),
  'prompts/all.ts': moduleOf(`export default [
    definePrompt({ name: 'open', render: () => 'open' }),
    definePrompt({
      name: 'write', scopes: ['docs:write'], arguments: [{ name: 'a', complete: ['secret'] }],
      render: () => 'write'
    })
  ]`),
  'resources/all.resource.ts': moduleOf(`export default [
    defineResource({ uri: 'doc://open', name: 'open', read: () => 'open' }),
    defineResource({
      uri: 'doc://shared', name: 'shared', cache: { ttlMs: 5, cacheScope: 'public' }, read: () => 'shared'
    }),
    defineResource({
      uri: 'doc://secret', name: 'secret', scopes: ['docs:read'], cache: { ttlMs: 5 }, read: () => 'secret'
    }),
    defineResourceTemplate({
      uriTemplate: 'secret://{id}', name: 'secrets', scopes: ['docs:write'], complete: { id: ['one'] },
      list: () => [{ name: 'one', variables: { id: 'one' } }],
      read: ({ id }) => 'secret ' + id
    }),
    defineResourceTemplate({ uriTemplate: 'open://{id}', name: 'opens', read: ({ id }) => 'open ' + id })
  ]`),
  'resources/plain.txt': 'plain'
}

export async function resultOf (
  app: FastifyInstance, method: string, authorization: string,
  params: { readonly [key: string]: unknown } = {}
): Promise<Message> {
  return (await send(app, { method, params, headers: { authorization } })).response.result
}
