// The process of a service with several workers. It serves nothing itself: it starts workers, passes signals
// on, and writes what they write.

import cluster, { type Worker } from 'node:cluster'
import { isatty } from 'node:tty'
import { flushAllSync, LineDestination } from '../../base/line-destination.ts'
import { createLoadGuard } from '../../catalog/compiled/load-guard.ts'
import type { Config } from '../../ops/config/settings.ts'
import { readLogLevel, updateLogLevel } from '../../ops/log/log-level.ts'
import { openLog, type ProcessLog } from '../../ops/log/log.ts'
import { relayLines } from './relayed-lines.ts'
import {
  CLOSING_MARGIN_MS, closeLostTerminals, endGracefully, endWithNpm, isClosing, listenForHangUps
} from './signals.ts'
import { WorkerGroup } from './worker-group.ts'

/** A worker ends by itself in its own time. Only one that hangs is still there this much later. */
const WORKER_MARGIN_MS = 1000

interface ParentOptions {
  readonly count: number
  /** The secrets of the service, which the environment lacks. */
  readonly secrets: { readonly [variable: string]: string | undefined }
}

/** Resolves when a worker serves. If none ever does, ends the process with the exit code of the worker. */
export async function serveWithWorkers (config: Config, { count, secrets }: ParentOptions): Promise<void> {
  const { drainMs, shutdownTimeoutMs } = config
  const hangUps = listenForHangUps()
  openOutput()
  const toText = isatty(1) ? (await import('../terminal/log-for-people.ts')).toPeople : undefined
  const log = openLog(readLogLevel(config), { ...toText && { toText } })
  const { logger } = log
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const workers = new WorkerGroup({
    count,
    isForPeople: toText !== undefined,
    variables: secrets,
    log: logger,
    drainMs,
    shutdownTimeoutMs,
    relay: createRelay(log)
  })
  process.on('exit', () => {
    workers.kill()
    flushAllSync()
    closeLostTerminals()
  })
  endGracefully({
    logger,
    guard: createLoadGuard(),
    delay: drainMs + shutdownTimeoutMs + CLOSING_MARGIN_MS + WORKER_MARGIN_MS,
    isWorker: false,
    close: async (signal) => await workers.stop(signal)
  })
  endWithNpm(logger)
  logger.info({ workers: count }, 'starting workers')
  const exit = await workers.start()
  // The worker has said why.
  if (exit !== undefined && !isClosing()) process.exit(exit.code ?? 1)
  hangUps.handle(() => {
    updateLogLevel(logger, config)
    workers.reload()
  })
}

/**
 * Node makes a pipe non-blocking when it opens the stream. The log writes to the descriptors, and a full pipe
 * that nobody reads must not block a write: the process could not end.
 */
function openOutput (): void {
  for (const name of ['stdout', 'stderr'] as const) Reflect.get(process, name)
}

/** Passes on both streams of a worker, each to the same stream of the parent. */
function createRelay (log: ProcessLog): (worker: Worker) => Promise<unknown> {
  const errors = new LineDestination({ dest: 2, onDropped () {} })
  const writeError = async (lines: string) => {
    errors.write(lines)
    await new Promise<void>((resolve) => { errors.flush(() => resolve()) })
  }
  return async ({ process: { stdout, stderr } }) => await Promise.allSettled([
    ...stdout === null ? [] : [relayLines(stdout, log.relay)],
    ...stderr === null ? [] : [relayLines(stderr, writeError)]
  ])
}
