// A server that a test can take away, of whatever kind.

export interface StoppableServer {
  readonly url: string
  /** Ends the server as a crash would. */
  kill (): Promise<void>
  /** Ends the server in order. Absent if that is no different from a crash. */
  stop? (): Promise<void>
  /** Starts the server again on its port, with the data that it kept. */
  restart (): Promise<void>
  /** The server keeps its connections and does not answer, until `thaw` is called. */
  freeze (): void
  thaw (): void
}
