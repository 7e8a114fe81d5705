// Converts questions to requests of an earlier revision.
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation

import { random } from '../../../base/time.ts'
import { isObject, type Params } from '../../../platform/protocol/json-rpc.ts'
import {
  hasAudio, hasElicitation, hasElicitationModes, hasLastModified, hasMetaOnParts, hasSamplingTools
} from '../../../platform/protocol/revisions.ts'

/** Returns the method and params of a request to the client, or the reason why the revision has none. */
export function toLegacyRequest (
  json: string, revision: string
): { readonly method: string, readonly params: Params } | string {
  const request: unknown = JSON.parse(json)
  if (!isObject(request) || typeof request.method !== 'string' || !isObject(request.params)) {
    throw new TypeError('a question is a method and its params')
  }
  const { method, params } = request
  const legacy = toLegacyParams(method, params, revision)
  return typeof legacy === 'string' ? legacy : { method, params: legacy }
}

function toLegacyParams (method: string, params: Params, revision: string): Params | string {
  if (method === 'elicitation/create') return toElicitation(params, revision)
  return method === 'sampling/createMessage' ? toSampling(params, revision) : params
}

function toElicitation (params: Params, revision: string): Params | string {
  if (!hasElicitation(revision)) return 'this protocol version cannot ask the user'
  if (hasElicitationModes(revision)) {
    return params.mode === 'url' ? { ...params, elicitationId: random.uuid() } : params
  }
  if (params.mode === 'url') return 'this protocol version cannot send the user to a URL'
  const { requestedSchema, message } = params
  const { properties, ...keywords } = isObject(requestedSchema) ? requestedSchema : {}
  const fields = Object.entries(isObject(properties) ? properties : {}).map(
    ([name, field]) => [name, isObject(field) ? toField(field) : undefined] as const
  )
  const unknown = fields.filter(([, field]) => field === undefined).map(([name]) => name)
  if (unknown.length > 0) {
    return `this protocol version has no multiple-choice fields, such as ${unknown.join(', ')}`
  }
  return { message, requestedSchema: { ...keywords, properties: Object.fromEntries(fields) } }
}

/** Only boolean fields have a default. The titles of choices are in the separate list `enumNames`. */
function toField (field: Params): Params | undefined {
  const { default: preset, oneOf, ...keywords } = field
  if (field.type === 'array') return undefined
  if (field.type === 'boolean') return field
  if (!Array.isArray(oneOf)) return keywords
  const choices: unknown[] = oneOf
  return {
    ...keywords,
    enum: choices.filter(isObject).map((choice) => choice.const),
    enumNames: choices.filter(isObject).map((choice) => choice.title)
  }
}

function toSampling (params: Params, revision: string): Params | string {
  if (hasSamplingTools(revision)) return params
  const messages = Array.isArray(params.messages) ? params.messages.filter(isObject) : []
  const single = messages.flatMap(
    ({ role, content }) => [content].flat().filter(isObject).map((block) => ({ role, block }))
  )
  const has = (...types: string[]) => single.some(({ block }) => types.some((type) => type === block.type))
  if (params.tools !== undefined || params.toolChoice !== undefined || has('tool_use', 'tool_result')) {
    return 'this protocol version has no tools for the model'
  }
  if (!hasAudio(revision) && has('audio')) return 'this protocol version has no audio'
  return {
    ...params, messages: single.map(({ role, block }) => ({ role, content: toBlock(block, revision) }))
  }
}

function toBlock ({ annotations, _meta, ...block }: Params, revision: string): Params {
  const { lastModified, ...members } = isObject(annotations) ? annotations : {}
  return {
    ...block,
    ...(annotations !== undefined && { annotations: hasLastModified(revision) ? annotations : members }),
    ...(_meta !== undefined && hasMetaOnParts(revision) && { _meta })
  }
}
