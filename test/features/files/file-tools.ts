// Tools that hand out and take files, and what a client does with them.

import type { FastifyInstance } from 'fastify'
import { AuthenticationError, type Authenticator } from '../../../src/platform/access/authentication.ts'
import { send, type Message } from '../../helpers/request.ts'

export const FILES = {
  'tools/files.ts': `import { defineTool } from 'trivet'
    import { Readable } from 'node:stream'

    const inputSchema = { type: 'object' } as const

    async function * count (bytes) {
      const chunk = Buffer.alloc(65_536, 'abcdefgh')
      for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left)
    }

    export const put = defineTool({
      name: 'put',
      description: 'Puts a text, or some bytes as a stream.',
      inputSchema,
      run: async ({ text, bytes, breaksOff, ...options }, ctx) => {
        const source = text !== undefined ? Buffer.from(text) : Readable.from((async function * () {
          yield * count(bytes)
          if (breaksOff) throw new Error('the source broke off')
        })())
        return { content: [await ctx.files.put(source, options)] }
      }
    })

    export const putPath = defineTool({
      name: 'put_path',
      description: 'Puts a file.',
      inputSchema,
      run: async ({ path, ...options }, ctx) => ({ content: [await ctx.files.put(path, options)] })
    })

    const take = async (options, ctx) => {
        const file = await ctx.files.upload({ message: 'The file to read', ...options })
        if (file.action !== 'accept') return file.action
        let bytes = 0
        let head = ''
        for await (const chunk of file.stream()) {
          if (head === '') head = chunk.toString('latin1', 0, 20)
          bytes += chunk.length
        }
        const { name, mimeType, size } = file
        return { name, mimeType, size, bytes, head }
    }

    const description = 'Asks for a file.'
    export const takeNow = defineTool({ name: 'take', description, inputSchema, run: take })
    export const takeLater = defineTool({
      name: 'take_in_task', description, inputSchema, task: 'required', ttlMs: 60_000, run: take
    })`
}

const CAPABILITIES = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } } }

/** Takes `Bearer NAME` for the subject of this name. */
export const NAMES: Authenticator = {
  authenticate (header) {
    if (header === undefined) throw new AuthenticationError(undefined, 'no token')
    return { subject: header.replace(/^Bearer /, ''), clientId: 'test', scopes: new Set() }
  }
}

export interface CallOptions {
  /** The subject of the token. */
  readonly as?: string
  /** Of a later round. */
  readonly more?: object
}

/** Resolves to the result of the tool. */
export async function call (
  app: FastifyInstance, name: string, args: object = {}, { as, more = {} }: CallOptions = {}
): Promise<Message> {
  const { response } = await send(app, {
    method: 'tools/call',
    params: { name, arguments: args, ...more },
    meta: CAPABILITIES,
    headers: as === undefined ? {} : { authorization: `Bearer ${as}` }
  })
  return response.result ?? response
}

/** The link in the result of a tool. */
export function linkIn (result: Message): string {
  return result.content[0].uri
}

/** The URL of the page in a result that asks for a file. */
export function pageIn (result: Message): string {
  return result.inputRequests.upload.params.url
}

/** The headers and the body of a form with one file. */
export async function toForm (
  name: string, bytes: string | Uint8Array, type = 'text/plain'
): Promise<{ readonly headers: { readonly 'content-type': string }, readonly payload: Buffer }> {
  const form = new FormData()
  form.append('file', new File([bytes], name, { type }))
  const request = new Response(form)
  return {
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer())
  }
}
