// Whatever the service sends is held against the JSON Schema of the revision that it speaks.

import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { definitionsOf, readPublishedSchemas, type Schema } from './published-schemas.ts'
import type { Message } from './request.ts'
import { skillResultProblems } from './skill-schema.ts'
import { detailedTaskProblems, taskResultProblems } from './task-schema.ts'

interface Wire {
  readonly definitions: { readonly [name: string]: Schema }
  /** The names of the definitions of a method. */
  readonly ofRequest: ReadonlyMap<string, string>
  readonly ofNotification: ReadonlyMap<string, string>
  readonly ofError: ReadonlyMap<number, string>
  problems (definition: string, value: unknown): string[]
}

const schemas = readPublishedSchemas()
const wires = new Map<string, Wire>()

export const REVISIONS: readonly string[] = [...schemas.keys()].sort()

/**
 * Throws where the service must not send the message in this revision.
 * @param method of the request that the message is the response to, if it is one
 */
export function checkSent (message: Message, revision: string, method: string | undefined): void {
  const problems = problemsOf(message, revision, method)
  if (problems.length > 0) {
    throw new Error(
      `not a message of ${revision}${method === undefined ? '' : `, to ${method}`}: ${problems.join('; ')}\n${JSON.stringify(message).slice(0, 2000)}`
    )
  }
}

export function problemsOf (message: Message, revision: string, method: string | undefined): string[] {
  const wire = wireOf(revision)
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return ['a message is an object']
  }
  if ('method' in message) return said(wire, message)
  if ('error' in message) return failed(wire, message)
  return answered(wire, message, method)
}

function said (wire: Wire, sent: Message): string[] {
  const message = withoutTaskIds(sent)
  if (message.method === 'notifications/tasks') return detailedTaskProblems(message.params)
  const [kind, names] = 'id' in message
    ? ['JSONRPCRequest', wire.ofRequest]
    : ['JSONRPCNotification', wire.ofNotification]
  const name = names.get(message.method)
  if (name === undefined || !isOf(wire, name, 'id' in message ? 'ServerRequest' : 'ServerNotification')) {
    return [`a server has nothing to say by ${message.method}`]
  }
  const { jsonrpc, id, ...said } = message
  const envelope = wire.definitions[name].properties.jsonrpc === undefined ? said : message
  return [...wire.problems(kind, message), ...wire.problems(name, envelope)]
}

/** Of the extension of tasks: the revision does not have them. */
function withoutTaskIds (message: Message): Message {
  const { taskIds, ...notifications } = message.params?.notifications ?? {}
  return taskIds === undefined ? message : { ...message, params: { ...message.params, notifications } }
}

/** Whether the union has it: what only a client says has a definition too. */
function isOf (wire: Wire, name: string, union: string): boolean {
  return wire.definitions[union]?.anyOf.some(({ $ref }: Schema) => $ref.endsWith(`/${name}`)) === true
}

function failed (wire: Wire, message: Message): string[] {
  const general = 'JSONRPCErrorResponse' in wire.definitions ? 'JSONRPCErrorResponse' : 'JSONRPCError'
  // The schemas before 2025-11-25 ask for an id where the transport's text does not: a request that is
  // refused as a whole "MAY comprise a JSON-RPC error response that has no id".
  const identified = 'id' in message ? message : { ...message, id: 0 }
  return [
    ...wire.problems(general, identified),
    ...wire.problems(wire.ofError.get(message.error?.code) ?? general, identified)
  ]
}

function answered (wire: Wire, message: Message, method: string | undefined): string[] {
  const envelope = wire.problems(
    'JSONRPCResultResponse' in wire.definitions ? 'JSONRPCResultResponse' : 'JSONRPCResponse', message
  )
  const { result } = message
  const ofExtension = taskResultProblems(method, result) ?? skillResultProblems(method, result)
  if (ofExtension !== undefined) return [...envelope, ...ofExtension]
  const request = method === undefined ? undefined : wire.ofRequest.get(method)
  if (request === undefined) return [...envelope, `a result of ${method}, which the revision does not have`]
  const typed = message.result?.resultType === 'input_required'
    ? 'InputRequiredResult'
    : request.replace(/Request$/, 'Result')
  return [
    ...envelope,
    ...wire.problems(typed in wire.definitions ? typed : 'EmptyResult', withoutApps(method, message.result))
  ]
}

/** Earlier revisions have no extensions. Hosts negotiate this one in `initialize` all the same. */
function withoutApps (method: string | undefined, result: Message): Message {
  if (method !== 'initialize' || result?.capabilities?.extensions === undefined) return result
  const { extensions: all, ...capabilities } = result.capabilities
  const { 'io.modelcontextprotocol/ui': apps, ...extensions } = all
  const isOnlyApps = apps !== undefined && Object.keys(extensions).length === 0
  const others = isOnlyApps ? {} : { extensions }
  return { ...result, capabilities: { ...capabilities, ...others } }
}

function wireOf (revision: string): Wire {
  const known = wires.get(revision)
  if (known !== undefined) return known
  const published = schemas.get(revision)
  if (published === undefined) throw new Error(`no schema of ${revision}`)
  const wire = compile(published)
  wires.set(revision, wire)
  return wire
}

function compile (published: Schema): Wire {
  const schema = close(published)
  const definitions = definitionsOf(schema)
  const ajv = '$defs' in schema
    ? new Ajv2020({ strict: false, allErrors: true })
    : new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ ...schema, $id: 'mcp:/schema' })
  const ofRequest = new Map<string, string>()
  const ofNotification = new Map<string, string>()
  const ofError = new Map<number, string>()
  for (const [name, { properties }] of Object.entries(definitions)) {
    const method = properties?.method?.const
    if (method !== undefined) (name.endsWith('Request') ? ofRequest : ofNotification).set(method, name)
    for (const { properties: error } of properties?.error?.allOf ?? []) {
      if (error?.code?.const !== undefined) ofError.set(error.code.const, name)
    }
  }
  return {
    definitions,
    ofRequest,
    ofNotification,
    ofError,
    problems (definition, value) {
      const validate = ajv.getSchema(
        `mcp:/schema#/${'$defs' in schema ? '$defs' : 'definitions'}/${definition}`
      )
      if (validate === undefined) throw new Error(`the schema has no ${definition}`)
      if (validate(value) === true) return []
      return (validate.errors ?? []).map(
        ({
          instancePath, message, params
        }) => `${definition}${instancePath} ${message} ${JSON.stringify(params)}`
      )
    }
  }
}

/**
 * The specification lets everybody add members. This service adds none: one that the revision does not have
 * came from a later one.
 */
function close (published: Schema): Schema {
  const schema = structuredClone(published)
  for (const [name, definition] of Object.entries(definitionsOf(schema))) {
    if (!OPEN.test(name)) closeNode(definition)
  }
  return schema
}

/** Whatever any result may be; what others write into `_meta`. */
const OPEN = /^(?:Result|.*Meta(?:Object)?|JSONRPC.*|Notification|Request)$/
/** JSON Schemas of authors. */
const OF_AUTHORS = new Set(['inputSchema', 'outputSchema', '_meta'])

function closeNode (node: Schema): void {
  if (typeof node !== 'object' || node === null) return
  const { properties, additionalProperties, allOf, ...rest } = node
  if (typeof properties === 'object' && additionalProperties === undefined) node.additionalProperties = false
  for (const [name, child] of Object.entries(properties ?? {})) if (!OF_AUTHORS.has(name)) closeNode(child)
  for (const child of Object.values(rest)) closeNode(child)
}
