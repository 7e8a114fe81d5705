// Signals, and the end of the process.

import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { clock, timers } from '../../base/time.ts'
import type { LoadGuard } from '../../catalog/compiled/load-guard.ts'
import { flushLog } from '../../ops/log/log.ts'

/** The time for closing after the deadline of the requests, in milliseconds. */
export const CLOSING_MARGIN_MS = 3000

/**
 * A supervisor signals the whole group of processes, and npm passes the signal on to the service again. A
 * signal within this time of the first is the same one, in milliseconds. A person takes longer.
 */
const REPEAT_MS = 500

/** How often the service looks whether npm, if that has started it, still runs. In milliseconds. */
const PARENT_CHECK_MS = 500

/**
 * Signals of a crash must end the process: a handler of Node's returns to the instruction that crashed, for
 * ever. Profilers send SIGUSR2.
 */
const NOT_HANDLED = [
  'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV', 'SIGUSR2', 'unhandledRejection',
  'uncaughtException', 'beforeExit'
] as const

/** Sent by a terminal or a supervisor to all processes of the service. Only the parent acts on them. */
const OF_PARENT = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const

/** A second one of these ends the process at once. */
const OF_GROUP = ['SIGINT', 'SIGTERM'] as const

/** The standard streams that were a terminal at the start. */
const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor))
/** A terminal that is closed sends SIGHUP. The service must not outlive it and hold the port. */
export const hasTerminal = terminals.includes(0)

let hasBegun = false
let begunAt = Infinity

function begin (): void {
  if (hasBegun) return
  hasBegun = true
  begunAt = clock.monotonic()
}

/** Whether the end of the process has begun. */
export function isClosing (): boolean {
  return hasBegun
}

/** Leaves the signals of a service to its parent. */
export function ignoreSignals (): void {
  for (const signal of OF_PARENT) process.on(signal, () => {})
}

interface EndOptions {
  readonly logger: Logger
  readonly guard: LoadGuard
  /** The process ends with 1 after this time, in milliseconds. */
  readonly delay: number
  /** Whether the process ignores signals. */
  readonly isWorker: boolean
  /** Closes the service, and returns the exit code. */
  close (signal: string | undefined): Promise<number>
}

/**
 * Closes the service and ends the process after a signal, or after an error that nobody caught. Returns a
 * function that does the same.
 */
export function endGracefully ({ logger, guard, delay, isWorker, close }: EndOptions): () => void {
  let hasFailed = false
  const left = isWorker ? OF_PARENT : hasTerminal ? [] : ['SIGHUP' as const]
  // Profilers and heap dumps are asked for with SIGUSR2, which ends a process without a handler.
  process.on('SIGUSR2', () => {})
  let received: NodeJS.Signals | undefined
  const skip = [...NOT_HANDLED, ...OF_GROUP, ...left]
  const grace = closeWithGrace({ delay, logger, skip }, async ({ signal = received }) => {
    begin()
    if (signal !== undefined) logger.info({ signal }, 'shutting down')
    const exitCode = await close(signal)
    await flushLog(logger)
    process.exit(hasFailed ? 1 : exitCode)
  })
  for (const signal of isWorker ? [] : OF_GROUP) {
    process.on(signal, () => {
      if (!hasBegun) {
        received = signal
        begin()
        grace.close()
      } else if (clock.monotonic() - begunAt >= REPEAT_MS) {
        logger.error(`second ${signal}, exiting`)
        process.exit(1)
      }
    })
  }
  process.on('uncaughtException', (err) => {
    if (guard.take(err)) {
      logger.error({ err }, 'a module of a catalog that is not served threw an error that nobody caught')
      return
    }
    logger.fatal({ err }, 'shutting down after an error that nobody caught')
    if (hasBegun) process.exit(1)
    hasFailed = true
    grace.close()
  })
  // A rejected promise in one tool must not end the requests of others.
  process.on('unhandledRejection', (err) => {
    logger.error({ err }, 'a promise was rejected and nobody handled it')
  })
  return () => { if (!hasBegun) grace.close() }
}

/** Node resets the terminal at its end, and aborts if that fails. It leaves closed descriptors alone. */
export function closeLostTerminals (): void {
  for (const descriptor of terminals.filter((terminal) => !isatty(terminal))) closeSync(descriptor)
}

/**
 * npm starts a command in a shell, and tells only the shell of a signal. The shell ends, and the service must
 * not go on without them.
 */
export function endWithNpm (logger: Logger): void {
  const { pid, ppid: parent, env: { npm_lifecycle_event: script } } = process
  if (script === undefined) return
  const timer = timers.setInterval(() => {
    if (process.ppid === parent) return
    timers.clear(timer)
    // The group was signalled: npm got the same signal as the service.
    if (hasBegun) return
    logger.info({ script }, 'the npm command that started the service has ended')
    process.kill(pid, 'SIGTERM')
  }, PARENT_CHECK_MS).unref()
}

/**
 * Receives SIGHUP, by which operators ask for a reload: a process that does not handle it ends, unless it is
 * the first of a container. A SIGHUP that comes before there is a handler is remembered. A worker receives
 * none by itself.
 */
export function listenForHangUps (isWorker = false) {
  let isRemembered = false
  let react = () => { isRemembered = true }
  const receive = () => { if (!hasBegun) react() }
  if (!hasTerminal && !isWorker) process.on('SIGHUP', receive)
  return {
    receive,
    handle (reload: () => void) {
      react = reload
      if (isRemembered && !hasBegun) reload()
    }
  }
}
