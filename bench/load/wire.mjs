// HTTP for the load generator: writes requests as bytes, and reads only enough of an answer to find its end.

/** Every server has its endpoint at this path, so that all servers can get the same bytes. */
const ENDPOINT = ['POST /mcp HTTP/1.1', 'host: 127.0.0.1']

/** The bytes of a whole request, for a connection that is kept alive. */
export function toBytes ({ headers, body }) {
  const lines = [...ENDPOINT, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return Buffer.from(`${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** Finds the end of each answer on one connection. One request is in flight at a time. */
export class AnswerReader {
  status = 0
  /** The length of the body as received. The length of a chunked body includes the framing. */
  bytes = 0
  /** The received parts of the body, if bodies are kept. */
  chunks
  #head
  #due = -1
  #tail = Buffer.alloc(0)

  /** Reads a chunk. Returns whether the answer is complete. */
  read (chunk) {
    if (this.status === 0) {
      const known = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk])
      const end = known.indexOf(HEAD_END)
      if (end === -1) {
        this.#head = known
        return false
      }
      this.#readHead(known.latin1Slice(0, end))
      return this.#readBody(known.subarray(end + HEAD_END.length))
    }
    return this.#readBody(chunk)
  }

  get isChunked () { return this.#due === -1 }

  /** Must be called before the next answer. */
  reset () {
    this.status = 0
    this.bytes = 0
    this.#head = undefined
    if (this.chunks !== undefined) this.chunks = []
  }

  /** The body, if bodies are kept. */
  text () {
    const body = Buffer.concat(this.chunks)
    return this.#due === -1 ? unchunked(body) : body.toString()
  }

  #readHead (head) {
    this.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    this.#due = length === null ? -1 : Number(length[1])
    // If the first chunk is also the last, the line break before this chunk belongs to the head.
    this.#tail = Buffer.from('\r\n')
  }

  #readBody (chunk) {
    this.bytes += chunk.length
    this.chunks?.push(chunk)
    if (this.#due !== -1) return this.bytes >= this.#due
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-LAST_CHUNK.length)]).subarray(-LAST_CHUNK.length)
    return this.#tail.equals(LAST_CHUNK)
  }
}

function unchunked (body) {
  const parts = []
  for (let at = 0; ;) {
    const end = body.indexOf('\r\n', at)
    const size = parseInt(body.latin1Slice(at, end), 16)
    if (!(size > 0)) return Buffer.concat(parts).toString()
    parts.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
