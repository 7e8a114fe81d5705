// A client that follows resources, and opens its stream again whenever that has ended.

import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { toPost } from '../helpers/request.ts'
import { AnswerStream } from '../helpers/stream.ts'

const RETRY_MS = 50

export class Listener {
  /** How each stream ended, and how each attempt to open one did that failed. */
  readonly endings: Array<'result' | 'broken' | 'not opened'> = []
  readonly #url: string
  readonly #uris: readonly string[]
  readonly #streams: AnswerStream[] = []
  #request: ClientRequest | undefined
  #stopped = false

  /** Stopped when the test ends. */
  constructor (t: Test, url: string, uris: readonly string[]) {
    this.#url = url
    this.#uris = uris
    const running = this.#run()
    t.teardown(async () => {
      this.#stopped = true
      this.#request?.destroy()
      await running
    })
  }

  /** Whether it will be told of what changes from now on. */
  get isListening (): boolean {
    const stream = this.#streams.at(-1)
    return stream !== undefined && !stream.hasEnded &&
      stream.messages[0]?.method === 'notifications/subscriptions/acknowledged'
  }

  get reconnects (): number { return Math.max(0, this.#streams.length - 1) }

  /** How often it was told of a change, of one resource or of any. */
  heard (uri?: string): number {
    return this.#streams.flatMap(({ messages }) => messages)
      .filter(
        ({ method, params }) => method === 'notifications/resources/updated' &&
          (uri === undefined || params.uri === uri)
      ).length
  }

  async #run (): Promise<void> {
    for (let id = 1; !this.#stopped; id++) {
      const ending = await this.#follow(id)
      if (this.#stopped) return
      this.endings.push(ending)
      await pause(RETRY_MS)
    }
  }

  async #follow (id: number): Promise<'result' | 'broken' | 'not opened'> {
    const response = await this.#open(id).catch(() => undefined)
    if (response?.statusCode !== 200) {
      response?.resume()
      return 'not opened'
    }
    const stream = new AnswerStream(response)
    this.#streams.push(stream)
    await new Promise((resolve) => { response.once('close', resolve) })
    return stream.isComplete && stream.response?.result !== undefined ? 'result' : 'broken'
  }

  async #open (id: number): Promise<IncomingMessage> {
    const { headers, body } = toPost({
      id, method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: this.#uris } }
    })
    const request = openRequest(this.#url, {
      method: 'POST', agent: false, headers: { ...headers, 'content-length': Buffer.byteLength(body) }
    })
    this.#request = request
    return await new Promise((resolve, reject) => {
      request.on('error', reject)
      request.on('response', resolve)
      request.end(body)
    })
  }
}
