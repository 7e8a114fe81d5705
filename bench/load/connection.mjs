// One connection of the load generator: sends its requests in order, one for each call of `send`.

import { once } from 'node:events'
import { connect } from 'node:net'
import { AnswerReader } from './wire.mjs'

export class Connection {
  /** The time when the request in flight was sent, or fell due. */
  since = 0
  isBusy = false
  #socket
  #ring
  #place
  #reader = new AnswerReader()
  #onAnswer
  #onFailure

  /**
   * @param {string} url
   * @param {object} options
   * @param {object} options.ring
   * @param {boolean} [options.keeps] whether to keep the bodies of answers
   * @param {(connection: Connection, reader: AnswerReader, request: object) => void} options.onAnswer
   * @param {(error: Error) => void} options.onFailure
   */
  constructor (url, { ring, keeps = false, onAnswer, onFailure }) {
    const { hostname, port } = new URL(url)
    this.#ring = ring
    this.#onAnswer = onAnswer
    this.#onFailure = onFailure
    if (keeps) this.#reader.chunks = []
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('error', onFailure)
    this.#socket.on('close', () => {
      if (this.isBusy) onFailure(new Error(`${url} closed a connection with a request in flight`))
    })
  }

  async opened () {
    await once(this.#socket, 'connect')
  }

  /** @param {number} since the start of the latency of the request */
  send (since) {
    this.since = since
    this.isBusy = true
    const ring = this.#ring
    this.#place = ring.next
    ring.next = this.#place + 1 === ring.bytes.length ? 0 : this.#place + 1
    this.#socket.write(ring.bytes[this.#place])
  }

  close () {
    this.isBusy = false
    this.#socket.destroy()
  }

  #read (chunk) {
    const reader = this.#reader
    if (!this.isBusy) return
    if (!reader.read(chunk)) return
    const place = this.#place
    const { lengths, requests } = this.#ring
    // A repeated request has an answer of the same length, unless the answer is chunked: servers choose the
    // chunks freely.
    const isOdd = lengths[place] !== 0 && lengths[place] !== reader.bytes && !reader.isChunked
    const { method, params, status = 200 } = requests[place]
    if (reader.status !== status || isOdd) {
      const what = `${method} ${JSON.stringify(params).slice(0, 200)}`
      const got = `status ${reader.status}, ${reader.bytes} bytes, ${lengths[place]} before`
      this.#onFailure(new Error(`${what}: ${got}`))
      return
    }
    lengths[place] = reader.bytes
    this.#ring.answered++
    this.isBusy = false
    if (reader.chunks === undefined) reader.reset()
    this.#onAnswer(this, reader, requests[place])
  }
}
