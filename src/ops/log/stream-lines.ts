// Makes lines of the log of what modules write to the standard streams of the process. As plain text it would
// be no JSON, and a text without an end of line would run into the next line of the log. A child process that
// inherits a stream writes past this.

import type { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { type Timer, timers } from '../../base/time.ts'
import type { PrintingRequest } from '../../request/pipeline/print-scope.ts'
import { MAX_LENGTH, type PrintedLog } from './printed-log.ts'

type Name = 'stdout' | 'stderr'

export interface StandardStreams {
  readonly stdout: Writable
  readonly stderr: Writable
}

export interface StreamLines {
  /** Logs the lines that have no end yet. */
  flush (): void
  /** The streams write again what they are given. */
  release (): void
}

/** How long a line without an end may wait for it, in milliseconds. */
const PARTIAL_MS = 100

/** What a module writes to standard error is a warning in the log. */
export function logStreams (log: PrintedLog, target: StandardStreams): StreamLines {
  const both = [logStream(log, target, 'stdout', 'info'), logStream(log, target, 'stderr', 'warn')]
  return {
    flush () { for (const one of both) one.flush() },
    release () { for (const one of both) one.release() }
  }
}

function logStream (
  log: PrintedLog, target: StandardStreams, name: Name, level: 'info' | 'warn'
): StreamLines {
  const decoder = new StringDecoder()
  let partial = ''
  let request: PrintingRequest | undefined
  let timer: Timer | undefined

  function flush (): void {
    timers.clear(timer)
    timer = undefined
    const line = partial
    partial = ''
    if (line !== '') log.write(level, name, line, request)
  }

  function add (text: string): void {
    const current = log.current()
    // Requests that run at the same time have lines of their own.
    if (current !== request) flush()
    request = current
    const lines = `${partial}${text}`.split(/\r\n|\n|\r/)
    partial = lines.pop() ?? ''
    const whole = partial.length - partial.length % MAX_LENGTH
    lines.push(partial.slice(0, whole))
    partial = partial.slice(whole)
    for (const line of lines) if (line !== '') log.write(level, name, line, request)
    if (partial !== '') timer ??= timers.setTimeout(flush, PARTIAL_MS).unref()
  }

  const restore = onFirstUse(target, name, (stream) => {
    const { write } = stream
    const toLines: Writable['write'] = (chunk: unknown, ...rest: unknown[]) => {
      const encoding = rest.find((one) => typeof one === 'string')
      const bytes = typeof chunk === 'string' && encoding !== undefined && Buffer.isEncoding(encoding)
        ? Buffer.from(chunk, encoding)
        : chunk
      if (bytes instanceof Uint8Array) add(decoder.write(bytes))
      else if (typeof bytes === 'string') add(bytes)
      // Throws the error for a chunk that is no text.
      else return write.call(stream, bytes, 'utf8')
      const done = rest.find((one): one is () => void => typeof one === 'function')
      if (done !== undefined) queueMicrotask(done)
      return true
    }
    stream.write = toLines
    return () => { stream.write = write }
  })
  return {
    flush,
    release () {
      flush()
      restore()
    }
  }
}

/**
 * Changes the stream when it is first used. Node opens a standard stream then, and makes a pipe non-blocking,
 * which slows down a log that is written to the same pipe.
 */
function onFirstUse (
  target: StandardStreams, name: Name, change: (stream: Writable) => () => void
): () => void {
  const own = Object.getOwnPropertyDescriptor(target, name)
  let undo = () => {}
  const restore = () => { if (own !== undefined) Object.defineProperty(target, name, own) }
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get () {
      restore()
      const stream = target[name]
      undo = change(stream)
      return stream
    }
  })
  return () => {
    restore()
    undo()
  }
}
