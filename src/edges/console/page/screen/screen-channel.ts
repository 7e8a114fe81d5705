// JSON-RPC between the page and the frame of a screen.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#transport-layer

import { isRecord, type JsonObject } from '../connection/json.ts'

const MAX_OPEN_REQUESTS = 100

/** An error that a screen receives. */
export class ScreenRefusal extends Error {
  readonly code: number

  constructor (code: number, message: string) {
    super(message)
    this.name = 'ScreenRefusal'
    this.code = code
  }
}

interface ScreenChannelOptions {
  /** The origin of the frame. Messages of other origins, and of other windows, are ignored. */
  readonly origin: string
  /** Answers a request of the screen. The screen receives what it rejects with. */
  answer (method: string, params: JsonObject): Promise<object>
  receive (method: string, params: JsonObject): void
}

interface ScreenChannel {
  notify (method: string, params: object): void
  /** Resolves when the screen has answered, or after `timeoutMs`. */
  request (method: string, params: object, timeoutMs: number): Promise<void>
  /** Ignores all that the screen sends from now on. */
  close (): void
}

export function createChannel (
  frame: HTMLIFrameElement, { origin, answer, receive }: ScreenChannelOptions
): ScreenChannel {
  /** The open requests of the screen. False if the screen has cancelled one. */
  const open = new Map<string | number, boolean>()
  /** Called at the answers to requests of the page. */
  const waiting = new Map<unknown, () => void>()
  let lastId = 0

  function post (message: object): void {
    frame.contentWindow?.postMessage({ jsonrpc: '2.0', ...message }, origin)
  }

  function hear ({ source, origin: sender, data }: MessageEvent<unknown>): void {
    if (source === null || source !== frame.contentWindow || sender !== origin) return
    if (!isRecord(data) || data.jsonrpc !== '2.0') return
    const { id, method } = data
    const params = isRecord(data.params) ? data.params : {}
    if (typeof method !== 'string') waiting.get(id)?.()
    else if (typeof id === 'string' || typeof id === 'number') respond(id, method, params)
    else if (method === 'notifications/cancelled') cancel(params.requestId)
    else receive(method, params)
  }

  async function respond (id: string | number, method: string, params: JsonObject): Promise<void> {
    const problem = open.has(id)
      ? `The id ${id} is of a request that is still open.`
      : open.size < MAX_OPEN_REQUESTS
        ? undefined
        : `The screen has ${MAX_OPEN_REQUESTS} open requests. Wait for an answer before the next one.`
    if (problem !== undefined) return post({ id, error: { code: -32600, message: problem } })
    open.set(id, true)
    const outcome = await answer(method, params).then(
      (result) => ({ result }), (error: unknown) => ({ error: toError(error) })
    )
    if (open.get(id) === true) post({ id, ...outcome })
    open.delete(id)
  }

  function cancel (id: unknown): void {
    if ((typeof id === 'string' || typeof id === 'number') && open.has(id)) open.set(id, false)
  }

  window.addEventListener('message', hear)

  return {
    notify (method, params) { post({ method, params }) },
    async request (method, params, timeoutMs) {
      const id = ++lastId
      await new Promise<void>((resolve) => {
        waiting.set(id, resolve)
        window.setTimeout(resolve, timeoutMs)
        post({ id, method, params })
      })
      waiting.delete(id)
    },
    close () { window.removeEventListener('message', hear) }
  }
}

function toError (error: unknown): object {
  const { code, message, data } = isRecord(error) ? error : {}
  return {
    code: Number.isInteger(code) ? code : -32603,
    message: typeof message === 'string' ? message : String(error),
    ...(data !== undefined && { data })
  }
}
