// A client that sends a request again until it is answered by the service.

import { setTimeout as pause } from 'node:timers/promises'
import { toPost, type Message } from '../helpers/request.ts'
import { TASKS } from '../features/tasks/task-client.ts'

const META = {
  'io.modelcontextprotocol/clientCapabilities': { ...TASKS, elicitation: { form: {}, url: {} } }
}
/** What a tool or the service says while the store cannot be reached. */
const OUTAGE = /cannot be reached|too many|at the moment/i

interface Headers { readonly [name: string]: string }

export class StormClient {
  /** How many requests were sent again. */
  retries = 0
  /** How many calls met a release that does not know the tool. */
  unknownTools = 0
  readonly #url: string
  readonly #token: string

  constructor (url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  /** Resolves to the result of a call that succeeds. */
  async insist (name: string, args: object, headers: Headers = {}): Promise<Message> {
    for (;;) {
      const { result } = await this.ask('tools/call', { name, arguments: args }, headers)
      if (result !== undefined && result.isError !== true) return result
      if (!OUTAGE.test(JSON.stringify(result))) throw new Error(`${name}: ${JSON.stringify(result)}`)
      await this.#rest()
    }
  }

  /**
   * Begins a task, and resolves to its id and to the argument `task` that it has. Each attempt has another:
   * one whose answer was lost may have begun a task too.
   */
  async begin (tool: string): Promise<{ readonly taskId: string, readonly name: string }> {
    for (;;) {
      let name = ''
      const { result, error } = await this.ask('tools/call', () => {
        name = crypto.randomUUID()
        return { name: tool, arguments: { task: name } }
      })
      if (result?.taskId !== undefined) return { taskId: result.taskId, name }
      const text = JSON.stringify(error ?? result)
      if (text.includes(`Tool ${tool} not found`)) this.unknownTools++
      else if (!OUTAGE.test(text)) throw new Error(`${tool}: ${text}`)
      await this.#rest()
    }
  }

  /** Resolves to an answer that is no failure of the service or of the way to it. */
  async ask (method: string, params: object | (() => object), headers: Headers = {}): Promise<Message> {
    for (;;) {
      const post = toPost({
        method,
        params: { ...typeof params === 'function' ? params() : params },
        headers: { authorization: `Bearer ${this.#token}`, ...headers },
        meta: META
      })
      try {
        const answer = await fetch(this.#url, {
          method: 'POST', headers: post.headers, body: post.body, signal: AbortSignal.timeout(20_000)
        })
        const message: Message = JSON.parse((await answer.text()).replace(/^[^{]*/, ''))
        if (answer.status < 500 && ![503, -32603].includes(message.error?.code)) return message
      } catch {
        // The replica was killed or paused.
      }
      await this.#rest()
    }
  }

  async #rest (): Promise<void> {
    this.retries++
    await pause(100 + 100 * Math.random())
  }
}
