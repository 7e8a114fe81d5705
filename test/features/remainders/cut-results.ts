// Tools whose results are cut, and calls of them.

import type { FastifyInstance } from 'fastify'
import type { Authenticator } from '../../../src/platform/access/authentication.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { send, type Message } from '../../helpers/request.ts'

export const MAX_BYTES = 4000

export const CUT = `limits: { resultBytes: { max: ${MAX_BYTES}, then: 'cut' } }`
const ANY = "inputSchema: { type: 'object' }"
const ROWS = `outputSchema: { type: 'object', properties: {
  total: { type: 'integer' }, rows: { type: 'array', items: { type: 'object' } }
}, required: ['total', 'rows'] }`
const CLOSED = `outputSchema: {
  type: 'object', properties: { total: {}, rows: { type: 'array' } }, additionalProperties: false
}`
const FULL = "outputSchema: { type: 'object', properties: { rows: { type: 'array', minItems: 500 } } }"
const TO_ROWS = `({ count }) => {
  return { total: count, rows: Array.from({ length: count }, (_, id) => ({ id, name: 'é "' + id + '"' })) }
}`

export const FILES: Files = {
  'tools/lines.ts': toolModule(
    'lines', `${ANY}, ${CUT}`,
    `({ count }) => {
      return Array.from({ length: count }, (_, line) => 'Line ' + line + ': ü "quoted" 👩‍🚀.').join('\\n')
    }`
  ),
  'tools/words.ts': toolModule('words', `${ANY}, ${CUT}`, '({ text, times }) => text.repeat(times)'),
  'tools/rows.ts': toolModule('rows', `${ANY}, ${CUT}, ${ROWS}`, TO_ROWS),
  'tools/full.ts': toolModule('full', `${ANY}, ${CUT}, ${FULL}`, TO_ROWS),
  'tools/closed.ts': toolModule('closed', `${ANY}, ${CUT}, ${CLOSED}`, TO_ROWS),
  'tools/list.ts': toolModule('list', `${ANY}, ${CUT}`, `(args) => (${TO_ROWS})(args).rows`),
  'tools/picture.ts': toolModule(
    'picture', CUT, "() => ({ content: [{ type: 'image', data: 'A'.repeat(8000), mimeType: 'image/png' }] })"
  ),
  'tools/task.ts': toolModule(
    'task', `${ANY}, ${CUT}, task: 'allowed'`,
    'async ({ text, times }, ctx) => await ctx.step("a", () => text.repeat(times))'
  ),
  'tools/hidden.ts': toolModule(
    'hidden', `${ANY}, ${CUT}, scopes: ['s']`, '({ text, times }) => text.repeat(times)'
  )
}

/** The subject is the first word of the header, and the scopes are the others. */
export const authenticator: Authenticator = {
  admitsAnonymous: true,
  authenticate (authorization = 'someone') {
    const [subject = '', ...scopes] = authorization.split(' ')
    return { subject, scopes: new Set(scopes) }
  }
}

/** Calls a tool. Returns its result without `_meta`, and how many bytes the result has. */
export async function call (
  app: FastifyInstance, name: string, args: object, authorization = 'someone'
): Promise<{ readonly result: Message, readonly bytes: number }> {
  const { response: { result, error } } = await send(app, {
    method: 'tools/call', params: { name, arguments: args }, headers: { authorization }
  })
  if (error !== undefined) throw new Error(JSON.stringify(error))
  return { result, bytes: Buffer.byteLength(JSON.stringify(result)) }
}

/** The cursor that the last text of a result names. */
export function cursorOf ({ content }: Message): string | undefined {
  return /tool read_more with cursor: "([^"]+)"/.exec(content.at(-1).text)?.[1]
}

/** Reads on until the end. Returns the pieces, and the largest number of bytes of a result. */
export async function readAll (
  app: FastifyInstance, first: Message, authorization?: string
): Promise<{ readonly pieces: readonly string[], readonly maxBytes: number }> {
  const pieces: string[] = []
  let maxBytes = 0
  for (let cursor = cursorOf(first); cursor !== undefined;) {
    const { result, bytes } = await call(app, 'read_more', { cursor }, authorization)
    if (result.isError === true) throw new Error(result.content[0].text)
    pieces.push(result.content[0].text)
    maxBytes = Math.max(maxBytes, bytes)
    cursor = cursorOf(result)
  }
  return { pieces, maxBytes }
}
