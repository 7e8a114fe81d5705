// A client that has neither tasks nor elicitation, and whose model does what texts tell it.

import type { FastifyInstance } from 'fastify'
import type { Message } from '../helpers/request.ts'
import { TaskClient, type SendRequest } from '../features/tasks/task-client.ts'

interface PlainOptions {
  readonly user?: string
  readonly capabilities?: object
}

export class PlainClient extends TaskClient {
  constructor (to: FastifyInstance | SendRequest, { user = '', capabilities = {} }: PlainOptions = {}) {
    super(to, { user, capabilities })
  }

  /** Calls the tool that continues calls. */
  async continue (call: string, args: object = {}): Promise<Message> {
    return await this.call('continue_call', { call, ...args })
  }
}

/** Returns the call that the text of a result tells its model to continue. */
export function callOf (result: Message): string {
  const [, call] = /continue_call with call: "([^"]+)"/.exec(textOf(result)) ?? []
  if (call === undefined) throw new Error(`the result names no call: ${JSON.stringify(result)}`)
  return call
}

export function textOf (result: Message): string {
  return result.content?.[0]?.text ?? ''
}
