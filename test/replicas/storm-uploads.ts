// Tasks that ask for a file, and the files that are sent to their links until they are acknowledged.

import { hash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { toForm } from '../features/files/file-tools.ts'
import type { StormClient } from './storm-client.ts'
import type { Failure } from './storm-losses.ts'

const MAX_BYTES = 262_144
/** A file is sent in parts, so that faults meet it on its way. */
const PARTS = 4
const PART_EVERY_MS = 100
const LOOK_EVERY_MS = 200
const BEGIN_EVERY_MS = 2000
const REST_MS = 300

interface UploadOptions {
  /** The origin of the load balancer: links have that of the public URL. */
  readonly origin: string
  /** How long a link may be in use before the client gives up and cancels its task, in milliseconds. */
  readonly patienceMs: number
  /** How long a task may take after the last fault, in milliseconds. */
  readonly endMs: number
}

export class UploadLedger {
  readonly #client: StormClient
  readonly #options: UploadOptions
  readonly #open = new Set<string>()
  readonly #exchanges: Array<Promise<void>> = []
  /** Each fault may keep a link in use for a minute: while there are faults, a task has no limit of time. */
  #end = Infinity
  readonly failed: Array<Failure & { readonly isAcknowledged: boolean }> = []
  /** What is wrong with acknowledged uploads: they are lost, doubled, or differ. */
  readonly problems: string[] = []
  acknowledged = 0
  /** How many attempts had no answer, or one that does not say whether the file was received. */
  inDoubt = 0
  /** How many links stayed in use: the replica that received a file was killed. */
  givenUp = 0

  constructor (client: StormClient, options: UploadOptions) {
    this.#client = client
    this.#options = options
  }

  /** The ids of the tasks that have not ended. */
  get open (): readonly string[] { return [...this.#open] }

  /** Begins an exchange. A link may be in use for a minute, so this does not wait for the end. */
  async begin (number: number): Promise<void> {
    const exchange = this.#exchange(number)
    this.#exchanges.push(exchange.catch((error: unknown) => { this.problems.push(String(error)) }))
    await pause(BEGIN_EVERY_MS)
  }

  /** Resolves when all tasks have ended, or may take no longer. There are no more faults. */
  async finish (): Promise<void> {
    this.#end = performance.now() + this.#options.endMs
    await Promise.all(this.#exchanges)
  }

  /** Begins a task, sends the file that it asks for, and compares what the tool has read. */
  async #exchange (number: number): Promise<void> {
    let runsSince = performance.now()
    const { taskId } = await this.#client.begin('collect')
    this.#open.add(taskId)
    let sending: Promise<ReadonlySet<string> | undefined> | undefined
    let hasGivenUp = false
    while (performance.now() < this.#end) {
      await pause(LOOK_EVERY_MS)
      if (hasGivenUp) return await this.#giveUp(taskId)
      const askedAt = performance.now()
      const { result: task, error } = await this.#client.ask('tasks/get', { taskId })
      if (task?.status === 'working') continue
      if (task?.status !== 'input_required') {
        this.#open.delete(taskId)
        const endedAt = performance.now()
        const { sha256 } = task?.result?.structuredContent ?? {}
        const hashes = await sending
        if (task?.status === 'failed') {
          this.failed.push({ task, runsSince, endedAt, isAcknowledged: hashes !== undefined })
        } else if (sha256 === undefined) this.problems.push(`lost: ${JSON.stringify(task ?? error)}`)
        else if (hashes?.has(sha256) !== true) this.problems.push(`differs: ${taskId}`)
        return
      }
      runsSince = askedAt
      const [key = ''] = Object.keys(task.inputRequests)
      sending ??= this.#send(task.inputRequests[key].params.url).then((hashes) => {
        hasGivenUp = hashes === undefined
        return hashes
      })
      // Every other file comes after the answer: the tool waits for it.
      if (number % 2 === 0 && await sending === undefined) continue
      await this.#client.ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept' } } })
    }
    this.problems.push(`lost: ${taskId} has not ended`)
  }

  async #giveUp (taskId: string): Promise<void> {
    await this.#client.ask('tasks/cancel', { taskId })
    this.#open.delete(taskId)
    this.givenUp++
  }

  /**
   * Sends a file until it is acknowledged. Each attempt has other bytes. Resolves to the hashes of the
   * attempts that may be the one that was received, or to `undefined` if the link stays in use.
   */
  async #send (link: string): Promise<ReadonlySet<string> | undefined> {
    const doubtful = new Set<string>()
    let freeAt = performance.now()
    while (performance.now() < this.#end) {
      const bytes = randomBytes(1 + Math.floor(MAX_BYTES * Math.random()))
      const sha256 = hash('sha256', bytes)
      const outcome = await this.#attempt(link, bytes)
      if (outcome !== 'busy') freeAt = performance.now()
      else if (performance.now() > freeAt + this.#options.patienceMs) return undefined
      if (outcome === 'unknown') {
        this.inDoubt++
        doubtful.add(sha256)
      }
      if (outcome === 'received' || outcome === 'used') {
        this.acknowledged++
        await this.#sendSecond(link)
        return outcome === 'received' ? new Set([sha256]) : doubtful
      }
      await pause(REST_MS)
    }
    return doubtful
  }

  /** Sends another file by a link that is used up. */
  async #sendSecond (link: string): Promise<void> {
    while (performance.now() < this.#end) {
      const outcome = await this.#attempt(link, randomBytes(100))
      if (outcome === 'received') this.problems.push('doubled: a link took a second file')
      if (outcome === 'received' || outcome === 'used') return
      await pause(REST_MS)
    }
  }

  /** `unknown` if the file may have been received, or may be received later. */
  async #attempt (link: string, bytes: Uint8Array): Promise<'received' | 'used' | 'busy' | 'unknown'> {
    const { headers, payload } = await toForm('storm.bin', bytes, 'application/octet-stream')
    let status = 0
    let page = ''
    try {
      const answer = await fetch(new URL(new URL(link).pathname, this.#options.origin), {
        method: 'POST',
        headers,
        body: ReadableStream.from(this.#sendSlowly(payload)),
        duplex: 'half',
        signal: AbortSignal.timeout(20_000)
      })
      status = answer.status
      page = await answer.text()
    } catch {
      // The replica was killed or paused.
    }
    if (status === 200) return 'received'
    if (status === 409) return page.includes('Already used') ? 'used' : 'busy'
    if (status === 0 || status >= 500) return 'unknown'
    throw new Error(`an upload was answered with ${status}: ${page}`)
  }

  async * #sendSlowly (payload: Uint8Array): AsyncGenerator<Uint8Array> {
    const size = Math.ceil(payload.length / PARTS)
    for (let sent = 0; sent < payload.length; sent += size) {
      yield payload.subarray(sent, sent + size)
      await pause(PART_EVERY_MS)
    }
  }
}
