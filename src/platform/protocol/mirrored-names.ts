// What the header `Mcp-Name` mirrors, as clients must know it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

/** The member of the params, by method. */
export const MIRRORED_NAMES: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId'
}
