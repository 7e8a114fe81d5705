const FRAME = /^\s+at /

/** An error of a driver that is safe to log: it has the message without data, and the stack frames. */
export class DriverError extends Error {
  /** A code of Node.js such as ECONNREFUSED, or a code of the server. */
  declare code?: string

  constructor (message: string, code?: unknown) {
    super(message)
    if (typeof code === 'string') this.code = code
  }

  /** Takes the frames of the driver's error, whose stack begins with its message. */
  withFramesOf ({ stack = '' }: Error): this {
    const frames = stack.split('\n').filter((line) => FRAME.test(line))
    this.stack = [`${this.name}: ${this.message}`, ...frames].join('\n')
    return this
  }
}
