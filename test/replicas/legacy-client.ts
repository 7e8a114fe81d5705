// The official clients of both generations. Each speaks one given revision.

import {
  Client as NewClient, StreamableHTTPClientTransport as NewTransport
} from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator as NewValidator } from '@modelcontextprotocol/client/validators/ajv'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StreamableHTTPClientTransport as OldTransport
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator as OldValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { Test } from 'tap'
import { until } from '../helpers/deadline.ts'
import type { Message } from '../helpers/request.ts'
import { Wire } from './legacy-wire.ts'

export interface Kind { readonly generation: 1 | 2, readonly revision: string }

/** One kind of client for each way in which sessions are served. */
export const KINDS: Kind[] = [
  { generation: 1, revision: '2025-11-25' }, { generation: 2, revision: '2025-11-25' },
  { generation: 1, revision: '2025-06-18' }, { generation: 2, revision: '2025-03-26' }
]

/** The answers of the user and of the model. */
export interface Answers {
  elicit (params: Message): Message | Promise<Message>
  sample (params: Message): Message | Promise<Message>
}

export interface OfficialClient {
  readonly client: OldClient | NewClient
  readonly wire: Wire
  /** Every notification except the progress of calls. */
  readonly notifications: Message[]
  /** The errors of its connections. */
  readonly errors: Error[]
  readonly sessionId: string | undefined
  /** Resolves to the result. Rejects with a protocol error and with an error of the tool. */
  call (name: string, args?: object, onProgress?: (progress: Message) => void): Promise<Message>
  /** Subscribes to the resource, and resolves to a function that unsubscribes. */
  follow (uri: string): Promise<() => Promise<void>>
  /** Subscribes to changes of the tool list, if the revision requires that. */
  followTools (): Promise<void>
  /** Ends the session. */
  terminate (): Promise<void>
}

export const MODERN = '2026-07-28'

const INFO = { name: 'test', version: '1.0.0' }
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const SILENT: Answers = {
  elicit: () => ({ action: 'cancel' }), sample: () => { throw new Error('nobody is to be asked') }
}
/** More tries and shorter waits than the default: a replica needs some time to restart. */
const RECONNECT = {
  initialReconnectionDelay: 100, maxReconnectionDelay: 500, reconnectionDelayGrowFactor: 1.5, maxRetries: 100
}

/**
 * Returns the first schema that had the same text. Ajv compiles each object once: a client would compile the
 * schemas of all tools again with each list.
 */
function rememberSchemas<S> (): (schema: S) => S {
  const schemas = new Map<string, S>()
  return (schema) => {
    const text = JSON.stringify(schema)
    const first = schemas.get(text) ?? schema
    schemas.set(text, first)
    return first
  }
}

type OldSchema = Parameters<OldValidator['getValidator']>[0]
type NewSchema = Parameters<NewValidator['getValidator']>[0]
const toFirstOld = rememberSchemas<OldSchema>()
const toFirstNew = rememberSchemas<NewSchema>()

const OLD_VALIDATOR = new class extends OldValidator {
  override getValidator<T> (schema: OldSchema) { return super.getValidator<T>(toFirstOld(schema)) }
}()
const NEW_VALIDATOR = new class extends NewValidator {
  override getValidator<T> (schema: NewSchema) { return super.getValidator<T>(toFirstNew(schema)) }
}()

/** Opens a client, and closes it when the test ends. */
export async function connectOfficial (
  t: Test, url: string, { generation, revision }: Kind, answers: Answers = SILENT
): Promise<OfficialClient> {
  const isModern = revision === MODERN
  const wire = new Wire(isModern ? undefined : revision)
  const options = { fetch: wire.fetch, reconnectionOptions: RECONNECT }
  const connected = generation === 1
    ? await connectOld(new OldTransport(new URL(url), options), answers)
    : await connectNew(new NewTransport(new URL(url), options), answers, isModern ? revision : undefined)
  const { client, transport } = connected
  t.teardown(async () => await client.close())
  const notifications: Message[] = []
  const errors: Error[] = []
  client.fallbackNotificationHandler = async (notification) => { notifications.push(notification) }
  client.onerror = (error) => { errors.push(error) }
  return {
    client,
    wire,
    notifications,
    errors,
    get sessionId () { return transport.sessionId },
    async call (name, args = {}, onProgress) {
      const result: Message = await connected.call(
        { name, arguments: { ...args } }, onProgress === undefined ? {} : { onprogress: onProgress }
      )
      if (result.isError === true) throw new Error(result.content[0].text)
      return result
    },
    async follow (uri) {
      if (isModern && client instanceof NewClient) {
        const subscription = await client.listen({ resourceSubscriptions: [uri] })
        return async () => await subscription.close()
      }
      // A client without a stream receives no notifications.
      await until(() => wire.standalone !== undefined, 'the stream')
      await client.subscribeResource({ uri })
      return async () => { await client.unsubscribeResource({ uri }) }
    },
    async followTools () {
      if (isModern && client instanceof NewClient) await client.listen({ toolsListChanged: true })
      else await until(() => wire.standalone !== undefined, 'the stream')
    },
    terminate: async () => await transport.terminateSession()
  }
}

interface CallOptions { readonly onprogress?: (progress: Message) => void }

async function connectOld (transport: OldTransport, answers: Answers) {
  const client = new OldClient(INFO, { capabilities: CAPABILITIES, jsonSchemaValidator: OLD_VALIDATOR })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicit(params))
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => answers.sample(params))
  // The SDK's types do not fit each other under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<OldClient['connect']>[0])
  return {
    client,
    transport,
    call: async (
      params: { name: string, arguments: { [name: string]: unknown } }, options: CallOptions
    ) => await client.callTool(params, undefined, options)
  }
}

async function connectNew (transport: NewTransport, answers: Answers, pin: string | undefined) {
  const client = new NewClient(INFO, {
    capabilities: CAPABILITIES,
    jsonSchemaValidator: NEW_VALIDATOR,
    versionNegotiation: { mode: pin === undefined ? 'legacy' : { pin } }
  })
  client.setRequestHandler('elicitation/create', ({ params }) => answers.elicit(params))
  client.setRequestHandler('sampling/createMessage', ({ params }) => answers.sample(params))
  await client.connect(transport)
  return {
    client,
    transport,
    call: async (
      params: { name: string, arguments: { [name: string]: unknown } }, options: CallOptions
    ) => await client.callTool(params, options)
  }
}
