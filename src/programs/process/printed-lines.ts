// Makes lines of the log of all that modules print: with `console`, and to the standard streams of the
// process. As plain text it would be no JSON, and a text without an end of line would run into the next line
// of the log. A child process that inherits a stream writes past this.

import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Logger } from 'pino'
import { cut, partsOf } from '../../base/text.ts'
import { type Timer, timers } from '../../base/time.ts'

export interface StandardStreams {
  readonly stdout: Writable
  readonly stderr: Writable
}

export interface PrintedLines {
  /** Logs the lines that have no end yet. */
  flush (): void
  /** Lets the streams write again what they are given. */
  release (): void
}

type StreamName = keyof StandardStreams

/** Logs one text of a source: `console`, `stdout` or `stderr`. */
type WriteText = (source: string, text: string) => void

/** The longest text of one line, in UTF-16 code units. A longer one becomes several lines. */
export const MAX_LENGTH = 65_536
/** How long a line without an end may wait for it, in milliseconds. */
const PARTIAL_MS = 100

/** Logs all that modules print. Lines for standard error are warnings. */
export function logPrinted (logger: Logger, target: StandardStreams): PrintedLines {
  const [info, warn] = [toWriteText(logger, 'info'), toWriteText(logger, 'warn')]
  Object.assign(console, new Console({ stdout: toConsoleStream(info), stderr: toConsoleStream(warn) }))
  return logStreams(logger, target)
}

/** Logs what modules write to the standard streams. */
export function logStreams (logger: Logger, target: StandardStreams): PrintedLines {
  const streams = [
    new LoggedStream(target, 'stdout', toWriteText(logger, 'info')),
    new LoggedStream(target, 'stderr', toWriteText(logger, 'warn'))
  ]
  return {
    flush () { for (const stream of streams) stream.flush() },
    release () { for (const stream of streams) stream.release() }
  }
}

function toWriteText (logger: Logger, level: 'info' | 'warn'): WriteText {
  return (source, text) => {
    for (const part of partsOf(text, MAX_LENGTH)) logger[level]({ source }, '%s', part)
  }
}

function toConsoleStream (writeText: WriteText): Writable {
  return new Writable({
    decodeStrings: false,
    write (text, _encoding, done) {
      writeText('console', String(text).trimEnd())
      done()
    }
  })
}

class LoggedStream implements PrintedLines {
  readonly #name: StreamName
  readonly #writeText: WriteText
  readonly #restore: () => void
  readonly #decoder = new StringDecoder()
  /** The text after the last end of line. */
  #partial = ''
  #timer: Timer | undefined

  constructor (target: StandardStreams, name: StreamName, writeText: WriteText) {
    this.#name = name
    this.#writeText = writeText
    this.#restore = onFirstUse(target, name, (stream) => this.#replaceWrite(stream))
  }

  flush (): void {
    timers.clear(this.#timer)
    this.#timer = undefined
    const line = this.#partial
    this.#partial = ''
    if (line !== '') this.#writeText(this.#name, line)
  }

  release (): void {
    this.flush()
    this.#restore()
  }

  #add (text: string): void {
    const lines = `${this.#partial}${text}`.split(/\r\n|\n|\r/)
    const partial = lines.pop() ?? ''
    const excess = cut(partial, partial.length - partial.length % MAX_LENGTH)
    lines.push(excess)
    this.#partial = partial.slice(excess.length)
    for (const line of lines) if (line !== '') this.#writeText(this.#name, line)
    if (this.#partial !== '') this.#timer ??= timers.setTimeout(() => this.flush(), PARTIAL_MS).unref()
  }

  /** Returns a function that undoes it. */
  #replaceWrite (stream: Writable): () => void {
    const { write } = stream
    const toLines: Writable['write'] = (chunk: unknown, ...options: unknown[]) => {
      const encoding = options.find((option) => typeof option === 'string')
      const bytes = typeof chunk === 'string' && encoding !== undefined && Buffer.isEncoding(encoding)
        ? Buffer.from(chunk, encoding)
        : chunk
      if (bytes instanceof Uint8Array) this.#add(this.#decoder.write(bytes))
      else if (typeof bytes === 'string') this.#add(bytes)
      // Throws the error for a chunk that is no text.
      else return write.call(stream, bytes, 'utf8')
      const callback = options.find((option): option is () => void => typeof option === 'function')
      if (callback !== undefined) queueMicrotask(callback)
      return true
    }
    stream.write = toLines
    return () => { stream.write = write }
  }
}

/**
 * Changes the stream when it is first used. Node opens a standard stream then, and makes a pipe non-blocking,
 * which slows down a log that is written to the same pipe.
 */
function onFirstUse (
  target: StandardStreams, name: StreamName, change: (stream: Writable) => () => void
): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(target, name)
  let undo = () => {}
  const restore = () => { if (descriptor !== undefined) Object.defineProperty(target, name, descriptor) }
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
