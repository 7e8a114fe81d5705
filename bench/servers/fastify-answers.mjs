// The answers of the Fastify servers, with the bytes of Trivet's answers. Lists and reads are ready when the
// server starts. Calls and prompts are made for each request.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { prompts } from '../catalog/definitions.mjs'

/**
 * Results as Trivet writes them. `lists` and `reads` are whole results. `rests` are the members of results
 * beside the content.
 */
const { tools, lists, reads, rests } = JSON.parse(readFileSync(process.env.BENCH_ANSWERS, 'utf8'))

/**
 * From this length on, bytes are faster than a text, because a text is encoded again for each answer. A
 * shorter text is faster, because Node sends it together with the headers.
 */
const LEAST_BUFFER = 4096

const texts = new Map(prompts().map(({ name, text }) => [name, text]))
const readResults = new Map(Object.entries(reads).map(([uri, result]) => [uri, ready(result)]))

const { _meta: callMeta, ...callRest } = rests['tools/call']
const { _meta: promptMeta, ...promptRest } = rests['prompts/get']

export const toolCount = tools
export const listResult = ready(lists)

/** @param {object | string} output what the tool returned */
export function toCallResult (output) {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  const structuredContent = typeof output === 'string' ? undefined : output
  const content = [{ type: 'text', text }]
  return JSON.stringify({ ...callRest, content, structuredContent, _meta: callMeta })
}

/** Returns `undefined` if there is no such prompt. */
export function toPromptResult (name, subject) {
  const text = texts.get(name)?.(subject)
  if (text === undefined) return undefined
  const messages = [{ role: 'user', content: { type: 'text', text } }]
  return JSON.stringify({ ...promptRest, messages, _meta: promptMeta })
}

/** Returns `undefined` if no resource of the catalog has this URI. */
export function toReadResult (uri) {
  return readResults.get(uri)
}

/** Reads a file of the catalog for this request. */
export async function readAnew (uri) {
  const bytes = await readFile(process.env.BENCH_FILES + fileURLToPath(uri))
  const content = uri.endsWith('.txt')
    ? { uri, mimeType: 'text/plain', text: bytes.toString() }
    : { uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') }
  return JSON.stringify({ ...rests['resources/read'], contents: [content] })
}

export function respond (reply, id, result) {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
  reply.header('content-type', 'application/json')
  if (typeof result === 'string') return reply.send(`${head}${result}}`)
  sendReady(reply, head, result)
  return reply
}

function ready (result) {
  return Buffer.byteLength(result) < LEAST_BUFFER ? result : Buffer.from(result)
}

/** Writes the bytes between two texts, without a copy of them. */
function sendReady (reply, head, result) {
  const { raw } = reply
  const { writeHead, end } = raw
  const length = Buffer.byteLength(head) + result.length + 1
  raw.writeHead = (status, headers) => writeHead.call(raw, status, { ...headers, 'content-length': length })
  raw.end = () => {
    raw.socket.cork()
    raw.write(head)
    raw.write(result)
    end.call(raw, '}')
    raw.socket.uncork()
  }
  reply.send(result)
}
