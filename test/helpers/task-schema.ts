// The JSON of tasks, as the extension io.modelcontextprotocol/tasks has it.

import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Message } from './request.ts'

const time = { type: 'string', format: 'date-time' }
const task = {
  taskId: { type: 'string', minLength: 1 },
  statusMessage: { type: 'string' },
  createdAt: time,
  lastUpdatedAt: time,
  ttlMs: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
  pollIntervalMs: { type: 'integer', minimum: 1 },
  resultType: { type: 'string' },
  _meta: { type: 'object' }
}
const toShape = (status: string, details: { readonly [name: string]: object }) => ({
  type: 'object',
  required: ['taskId', 'status', 'createdAt', 'lastUpdatedAt', 'ttlMs', ...Object.keys(details)],
  properties: { ...task, status: { const: status }, ...details },
  additionalProperties: false
})
const object = { type: 'object' }
const inputRequests = {
  type: 'object',
  minProperties: 1,
  additionalProperties: { type: 'object', required: ['method'], properties: { method: { type: 'string' } } }
}
const error = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { type: 'integer' }, message: { type: 'string' } }
}
const DETAILED = {
  oneOf: [
    toShape('working', {}),
    toShape('input_required', { inputRequests }),
    toShape('completed', { result: object }),
    toShape('failed', { error }),
    toShape('cancelled', {})
  ]
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const isDetailed = ajv.compile(DETAILED)
const isSeed = ajv.compile(toShape('working', {}))

/** The problems of a task as `tasks/get` and notifications have it. */
export function detailedTaskProblems (value: unknown): string[] {
  return isDetailed(value) ? [] : [`not a task: ${ajv.errorsText(isDetailed.errors)}`]
}

/** The problems of the answer that creates a task. */
function newTaskProblems (value: unknown): string[] {
  return isSeed(value) ? [] : [`not a new task: ${ajv.errorsText(isSeed.errors)}`]
}

/** The problems of a result of the extension. `undefined` for a result of the protocol. */
export function taskResultProblems (method: string | undefined, result: Message): string[] | undefined {
  if (method === 'tools/call' && result?.resultType === 'task') return newTaskProblems(result)
  if (method === 'tasks/get') return detailedTaskProblems(result)
  if (method !== 'tasks/update' && method !== 'tasks/cancel') return undefined
  return Object.keys(result).toString() === 'resultType,_meta' ? [] : ['an acknowledgement has no members']
}
