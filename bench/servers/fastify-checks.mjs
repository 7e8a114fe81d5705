// The checks of the checked Fastify. ajv compiles all schemas when the server starts.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { REVISION } from '../requests/messages.mjs'

const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
const HEADER_MISMATCH = -32001
const UNSUPPORTED_REVISION = -32004

const HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]'])
const ORIGINS = new Set(['http://localhost', 'http://127.0.0.1'])
const META_REVISION = 'io.modelcontextprotocol/protocolVersion'
const META_CLIENT = 'io.modelcontextprotocol/clientInfo'
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** By method, the param that the header Mcp-Name repeats. */
const NAMED = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

const ENCODED = /^=\?base64\?(.*)\?=$/

const ajv = new Ajv2020({ allowUnionTypes: true })
const text = { type: 'string' }
const acceptsEnvelope = ajv.compile({
  type: 'object',
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer'] },
    method: text,
    params: {
      type: 'object',
      properties: {
        name: text,
        uri: text,
        arguments: { type: 'object' },
        _meta: {
          type: 'object',
          properties: {
            [META_REVISION]: text,
            [META_CLIENT]: {
              type: 'object', properties: { name: text, version: text }, required: ['name', 'version']
            },
            [META_CAPABILITIES]: { type: 'object' }
          },
          required: [META_REVISION, META_CAPABILITIES]
        }
      },
      required: ['_meta']
    }
  },
  required: ['jsonrpc', 'id', 'method', 'params']
})
const acceptsPromptArguments = ajv.compile({
  type: 'object', properties: { subject: text }, required: ['subject'], additionalProperties: false
})

export class Refusal extends Error {
  constructor (statusCode, code, message) {
    super(message)
    this.statusCode = statusCode
    this.code = code
  }
}

export function checkOrigin ({ host = '', origin }) {
  const isAllowedHost = HOSTS.has(host.replace(/:\d+$/, ''))
  if (!isAllowedHost) throw new Refusal(403, INVALID_REQUEST, 'This Host is not allowed')
  if (origin !== undefined && !ORIGINS.has(origin.replace(/:\d+$/, ''))) {
    throw new Refusal(403, INVALID_REQUEST, 'This Origin is not allowed')
  }
}

export function checkEnvelope (body) {
  if (acceptsEnvelope(body)) return
  throw new Refusal(400, INVALID_REQUEST, ajv.errorsText(acceptsEnvelope.errors, { dataVar: 'body' }))
}

/** Fastify has checked the header Content-Type: it parses JSON only. */
export function checkHeaders (headers, { method, params }) {
  const { accept = '*/*' } = headers
  const takesBoth = accept.includes('application/json') && accept.includes('text/event-stream')
  if (!takesBoth && !accept.includes('*/*')) {
    throw new Refusal(406, INVALID_REQUEST, 'Accept must list application/json and text/event-stream')
  }
  const revision = params._meta[META_REVISION]
  checkMirror('MCP-Protocol-Version', headers['mcp-protocol-version'], revision)
  if (revision !== REVISION) throw new Refusal(400, UNSUPPORTED_REVISION, `Unsupported revision: ${revision}`)
  checkMirror('Mcp-Method', headers['mcp-method'], method)
  const named = NAMED[method]
  if (named !== undefined) checkMirror('Mcp-Name', decoded(headers['mcp-name']), params[named])
}

function checkMirror (header, received, value) {
  if (received === value && value !== undefined) return
  throw new Refusal(400, HEADER_MISMATCH, `${header} does not match the body`)
}

function decoded (header) {
  const encoded = header?.startsWith('=?') ? ENCODED.exec(header)?.[1] : undefined
  return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString()
}

export function checkPromptArguments (args) {
  if (acceptsPromptArguments(args)) return
  const { errors } = acceptsPromptArguments
  throw new Refusal(200, INVALID_PARAMS, ajv.errorsText(errors, { dataVar: 'arguments' }))
}

export function compileTool ({ kind, inputSchema, outputSchema }) {
  const acceptsInput = ajv.compile(inputSchema)
  const acceptsOutput = outputSchema && ajv.compile(outputSchema)
  return {
    kind,
    acceptsInput,
    complain: () => ajv.errorsText(acceptsInput.errors, { dataVar: 'arguments' }),
    /** @throws if the output is not what the tool promises: an error of the service */
    checkOutput (output) {
      if (acceptsOutput?.(output) === false) throw new Error(ajv.errorsText(acceptsOutput.errors))
    }
  }
}
