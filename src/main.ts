// The process: reads settings from the environment, listens, and handles signals. Only launch.ts,
// which imports this file, uses `process` too.

import { Console } from 'node:console'
import { closeSync, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import type { Service } from './app.ts'
import type { Build } from './app/measures.ts'
import { openAddresses } from './app/listening.ts'
import { Lifecycle, StartError } from './base/lifecycle.ts'
import { timers } from './base/time.ts'
import { messageOf } from './base/words.ts'
import { createLoadGuard, type LoadGuard } from './catalog/compiled/load-guard.ts'
import { CatalogError } from './catalog/compiled/problem.ts'
import { ConfigError, readConfig, toAppConfig } from './ops/config/config.ts'
import { SECRET_VARIABLES, type Config } from './ops/config/settings.ts'
import { findUnknownVariables } from './ops/config/unknown-variables.ts'
import { readLogLevel, updateLogLevel } from './ops/log/log-level.ts'
import { flushAllSync } from './ops/log/line-destination.ts'
import { flushLog, openLog } from './ops/log/log.ts'
import { logPrinted, type PrintedLines } from './ops/log/printed-lines.ts'
import { readHeapOption, type MemoryLimits } from './ops/overload/pressure.ts'

/** The time for closing after the deadline of the requests, in milliseconds. */
const CLOSING_MARGIN_MS = 3000

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

/** The values of the service's secret settings, by variable. */
interface Secrets { readonly [variable: string]: string | undefined }

let isClosing = false
/** The standard streams that were a terminal at the start. */
const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor))
/** A terminal that is closed sends SIGHUP. The service must not outlive it and hold the port. */
const hasTerminal = terminals.includes(0)
/** Present once the log takes what is printed. */
let printed: PrintedLines | undefined
/** Present once the log is open. */
let openedLogger: Logger | undefined

try {
  const args = process.argv.slice(2)
  const secrets = takeSecrets()
  if (args.length === 0) await serve(() => readConfig({ ...process.env, ...secrets }))
  else await runCommand(args, secrets)
} catch (error) {
  // A signal during the start may have closed the app before it listened.
  if (!isClosing) {
    const isUnexpected = error instanceof Error && problemsOf(error) === undefined
    process.stderr.write(`${isUnexpected ? error.stack : messageOf(error)}\n`)
    // A timer or a connection of a module would keep the process alive.
    process.exit(1)
  }
}

/** Removes the service's secrets from the environment, which every module of the catalog can read. */
function takeSecrets (): Secrets {
  const secrets = SECRET_VARIABLES.map((variable) => [variable, process.env[variable]] as const)
  for (const [variable] of secrets) Reflect.deleteProperty(process.env, variable)
  return Object.fromEntries(secrets.filter(([, value]) => value !== undefined))
}

async function runCommand (args: readonly string[], secrets: Secrets): Promise<void> {
  // Imported only here: a container that serves needs no commands.
  const { runProgram } = await import('./cli/program.ts')
  const { createOutput } = await import('./cli/output.ts')
  const { createTerminal } = await import('./cli/terminal.ts')
  const { readSource } = await import('./cli/installed-source.ts')
  const guard = createLoadGuard()
  // What modules write with `console` must not be among the results, which another program may read.
  Object.assign(console, new Console({ stdout: process.stderr, stderr: process.stderr }))
  let isServing = false
  process.on('uncaughtException', (error) => {
    if (isServing || guard.take(error)) return
    // The reader of standard error has closed it.
    if ('code' in error && error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  })
  // As in a service: a rejected promise in one tool ends nothing else.
  process.on('unhandledRejection', (error) => {
    if (isServing || guard.take(error)) return
    const text = error instanceof Error ? error.stack : String(error)
    process.stderr.write(`a promise was rejected and nobody handled it: ${text}\n`)
  })
  const exitCode = await runProgram(args, {
    guard,
    environment: process.env,
    adminToken: secrets.TRIVET_ADMIN_TOKEN,
    version: readBuild().version,
    dependency: readSource(fileURLToPath(new URL('..', import.meta.url)), readBuild().version),
    terminal: hasTerminal
      ? createTerminal(() => ({ input: process.stdin, output: process.stderr }))
      : undefined,
    ...createOutput(() => process.stdout, () => process.exit(0)),
    err: (text) => { process.stderr.write(text) },
    async serve (environment, { spell, isForPeople }) {
      isServing = true
      await serve(() => readConfig({ ...environment, ...secrets }, spell), isForPeople)
    }
  })
  // A module of the catalog may have a timer or a connection. What is written to a pipe may still wait.
  const hasFailed = exitCode !== 0 && !isClosing
  if (!isServing || hasFailed) process.stdout.write('', () => process.exit(exitCode))
}

/** @param isForPeople whether the log has lines for people instead of JSON also where it is no terminal. */
async function serve (readOwnConfig: () => Config, isForPeople = false): Promise<void> {
  try {
    await startService(readOwnConfig(), isForPeople)
  } catch (error) {
    if (!isClosing) reportFailedStart(error, isForPeople)
    throw error
  }
}

/** Logs one record for programs. Standard error gets the same as text for people. */
function reportFailedStart (error: unknown, isForPeople: boolean): void {
  printed?.release()
  if (isForPeople || isatty(1)) return
  const problems = problemsOf(error)
  const logger = openedLogger ?? openLog('info').logger
  logger.fatal(problems === undefined ? { err: error } : { problems }, 'the service has not started')
  flushAllSync()
}

/** What the operator can remove. `undefined` for an error that nobody expects. */
function problemsOf (error: unknown): readonly unknown[] | undefined {
  if (error instanceof ConfigError || error instanceof CatalogError) return error.problems
  return error instanceof StartError ? [error.message] : undefined
}

async function startService (config: Config, isForPeople: boolean): Promise<void> {
  const hangUps = listenForHangUps()
  const { adminPort, adminToken, otlpUrl } = config
  const level = readLogLevel(config)
  const toText = isForPeople || isatty(1) ? (await import('./ops/log/log-for-people.ts')).toPeople : undefined
  const log = openLog(level, { ...toText && { toText } })
  const logger = openedLogger = log.logger
  const lines = printed = logPrinted(logger, process)
  process.on('exit', () => {
    lines.flush()
    flushAllSync()
    closeLostTerminals()
  })
  for (const unknown of findUnknownVariables(process.env)) {
    logger.warn(unknown, 'this variable is no setting, and is ignored')
  }
  const guard = createLoadGuard()
  const delay = config.drainMs + config.shutdownTimeoutMs + CLOSING_MARGIN_MS
  const lifecycle = new Lifecycle()
  let service: Service | undefined
  // Before the service is imported: the first process of a container ignores signals that it does not handle.
  endGracefully(logger, guard, delay, async (signal) => {
    // Ctrl-C is pressed at a terminal, where no load balancer must be waited for.
    if (signal === 'SIGTERM') await service?.drain()
    await lifecycle.close()
  })
  endWithNpm(logger)
  const reload = await lifecycle.start(async () => {
    // The SDK comes first: the catalog's modules may use it while they load.
    const { openTraceSink } = await import('./ops/tracing/tracing.ts')
    const readVersion = () => readBuild().version
    await lifecycle.open(openTraceSink({ url: otlpUrl, readVersion, log: logger }))
    const { createService } = await import('./app.ts')
    const build = adminPort === undefined ? undefined : readBuild()
    const options = { ...toAppConfig(config), environment: process.env }
    const own = { guard, log, memory: readMemory(), build, adminToken, signal: lifecycle.signal }
    service = await lifecycle.open(createService(options, own))
    await openAddresses(service, config, log)
    return service.reload
  })
  hangUps.handle(() => {
    logger.info({ signal: 'SIGHUP' }, 'reloading')
    updateLogLevel(logger, config)
    reload()
  })
}

/** Node resets the terminal at its end, and aborts if that fails. It leaves closed descriptors alone. */
function closeLostTerminals (): void {
  for (const descriptor of terminals.filter((one) => !isatty(one))) closeSync(descriptor)
}

/**
 * npm starts a command in a shell, and tells only the shell of a signal. The shell ends, and the service must
 * not go on without them.
 */
function endWithNpm (logger: Logger): void {
  const { pid, ppid: parent, env: { npm_lifecycle_event: script } } = process
  if (script === undefined) return
  const timer = timers.setInterval(() => {
    if (process.ppid === parent) return
    timers.clear(timer)
    logger.info({ script }, 'the npm command that started the service has ended')
    process.kill(pid, 'SIGTERM')
  }, PARENT_CHECK_MS).unref()
}

function readMemory (): MemoryLimits {
  const { execArgv, env: { NODE_OPTIONS = '' } } = process
  return {
    containerBytes: process.constrainedMemory() || undefined,
    heapBytes: readHeapOption([NODE_OPTIONS, ...execArgv].join(' '))
  }
}

/**
 * Receives SIGHUP, by which operators ask for a reload: a process that does not handle it ends, unless it is
 * the first of a container. A SIGHUP that comes before there is a handler is remembered.
 */
function listenForHangUps () {
  let isRemembered = false
  let react = () => { isRemembered = true }
  if (!hasTerminal) process.on('SIGHUP', () => { if (!isClosing) react() })
  return {
    handle (reload: () => void) {
      react = reload
      if (isRemembered && !isClosing) reload()
    }
  }
}

/** The file is beside src/ and beside dist/. */
function readBuild (): Build {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return { version: String(version), node: process.versions.node }
}

/** Closes the service and ends the process after a signal, or after an error that nobody caught. */
function endGracefully (
  logger: Logger, guard: LoadGuard, delay: number, close: (signal: string | undefined) => Promise<void>
): void {
  let exitCode = 0
  const skip = [...NOT_HANDLED, ...hasTerminal ? [] : ['SIGHUP' as const]]
  // Profilers and heap dumps are asked for with SIGUSR2, which ends a process without a handler.
  process.on('SIGUSR2', () => {})
  const grace = closeWithGrace({ delay, logger, skip }, async ({ signal }) => {
    isClosing = true
    if (signal !== undefined) logger.info({ signal }, 'shutting down')
    await close(signal)
    await flushLog(logger)
    process.exit(exitCode)
  })
  process.on('uncaughtException', (err) => {
    if (guard.take(err)) {
      logger.error({ err }, 'a module of a catalog that is not served threw an error that nobody caught')
      return
    }
    logger.fatal({ err }, 'shutting down after an error that nobody caught')
    if (isClosing) process.exit(1)
    exitCode = 1
    grace.close()
  })
  // A rejected promise in one tool must not end the requests of others.
  process.on('unhandledRejection', (err) => {
    logger.error({ err }, 'a promise was rejected and nobody handled it')
  })
}
