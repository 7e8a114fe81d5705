// The process: reads settings from the environment, and listens. Only launch.ts, which imports this file, and
// process/ use `process` too.

import { Console } from 'node:console'
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import type { Service } from './app/app.ts'
import type { AuthorParts } from './app/features.ts'
import type { Build } from './app/own-process.ts'
import { describeInspector, openAddresses } from './app/listening.ts'
import { Lifecycle, StartError } from './base/lifecycle.ts'
import { flushAllSync } from './base/line-destination.ts'
import { messageOf } from './base/words.ts'
import { createLoadGuard } from './catalog/compiled/load-guard.ts'
import { CatalogError } from './catalog/compiled/problem.ts'
import type { AuthorOptions } from './programs/cli/command.ts'
import { ConfigError, readConfig, toAppConfig } from './ops/config/config.ts'
import { SECRET_VARIABLES, type Config } from './ops/config/settings.ts'
import { findUnknownVariables } from './ops/config/unknown-variables.ts'
import { readLogLevel, updateLogLevel } from './ops/log/log-level.ts'
import { openLog } from './ops/log/log.ts'
import { readMemory } from './programs/process/memory.ts'
import { logPrinted, type PrintedLines } from './programs/process/printed-lines.ts'
import {
  CLOSING_MARGIN_MS, closeLostTerminals, endGracefully, endWithNpm, hasTerminal, ignoreSignals, isClosing,
  listenForHangUps
} from './programs/process/signals.ts'
import { countWorkers, type WorkerCount } from './programs/process/worker-count.ts'
import { openParentLink, takeRole, type StopOrder } from './programs/process/worker.ts'

// A burst during the start makes V8 take objects of requests for old ones, which keep all that they name. In
// half of the processes, a prompt took 7 to 12 µs in place of 3 to 4, without HTTP (Node 20 and 24).
setFlagsFromString('--no-allocation-site-pretenuring')

/** The values of the service's secret settings, by variable. */
interface Secrets { readonly [variable: string]: string | undefined }

/** Present once the log takes what is printed. */
let printed: PrintedLines | undefined
/** Present once the log is open. */
let openedLogger: Logger | undefined
/** Present in one of several workers. */
const role = takeRole()
if (role !== undefined) ignoreSignals()

try {
  const args = process.argv.slice(2)
  const secrets = takeSecrets()
  if (args.length === 0) await serve(() => readConfig({ ...process.env, ...secrets }), secrets)
  else await runCommand(args, secrets)
} catch (error) {
  // A signal during the start may have closed the app before it listened.
  if (!isClosing()) {
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
  const { runProgram } = await import('./programs/cli/program.ts')
  const { createOutput } = await import('./programs/cli/output.ts')
  const { createTerminal } = await import('./programs/cli/terminal.ts')
  const { readSource } = await import('./programs/cli/installed-source.ts')
  const guard = createLoadGuard()
  // What modules write with `console` must not be among the results, which another program may read.
  Object.assign(console, new Console({ stdout: process.stderr, stderr: process.stderr }))
  let isServing = false
  let interruptText = ''
  process.on('uncaughtException', (error) => {
    if (isServing || guard.take(error)) return
    // The reader of standard error has closed it.
    if ('code' in error && error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  })
  // The same as in a service: a rejected promise in one tool ends nothing else.
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
    onInterrupt (text) {
      const isFirst = interruptText === ''
      interruptText = text
      // 128 and the number of the signal, as shells have it.
      if (isFirst) process.once('SIGINT', () => process.stderr.write(interruptText, () => process.exit(130)))
    },
    async serve (environment, { spell, author }) {
      isServing = true
      await serve(() => readConfig({ ...environment, ...secrets }, spell), secrets, author)
    }
  })
  // A module of the catalog may have a timer or a connection. What is written to a pipe may still wait.
  const hasFailed = exitCode !== 0 && !isClosing()
  if (!isServing || hasFailed) process.stdout.write('', () => process.exit(exitCode))
}

/** @param author present if the log has lines for people instead of JSON also where it is no terminal. */
async function serve (
  readOwnConfig: () => Config, secrets: Secrets, author?: AuthorOptions
): Promise<void> {
  try {
    const config = readOwnConfig()
    const workers: WorkerCount = role === undefined ? countWorkers(config) : { count: 1 }
    if (workers.count === 1) return await startService(config, author, workers.reason)
    const { serveWithWorkers } = await import('./programs/process/parent.ts')
    await serveWithWorkers(config, { count: workers.count, secrets })
  } catch (error) {
    if (!isClosing()) reportFailedStart(error, author !== undefined || role?.isForPeople === true)
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

/** @param reason why one process serves, for the log. */
async function startService (config: Config, author?: AuthorOptions, reason?: string): Promise<void> {
  const hangUps = listenForHangUps(role !== undefined)
  const { adminPort, adminToken, otlpUrl } = config
  const level = readLogLevel(config)
  const isForPeople = author !== undefined || isatty(1)
  const toText = isForPeople ? (await import('./programs/terminal/log-for-people.ts')).toPeople : undefined
  const log = openLog(level, { worker: role?.number, ...toText && { toText } })
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
  if (reason !== undefined) logger.info(reason)
  const guard = createLoadGuard()
  const delay = config.drainMs + config.shutdownTimeoutMs + CLOSING_MARGIN_MS
  const lifecycle = new Lifecycle()
  let service: Service | undefined
  let order: StopOrder | undefined
  let isUnready = false
  // Before the service is imported: the first process of a container ignores signals that it does not handle.
  const end = endGracefully({
    logger,
    guard,
    delay,
    isWorker: role !== undefined,
    async close (signal = order?.signal) {
      // Ctrl-C is pressed at a terminal, where no load balancer must be waited for.
      if (signal === 'SIGTERM') await service?.drain(order?.timeoutMs)
      await lifecycle.close()
      return 0
    }
  })
  const parent = role && openParentLink(role, {
    turnUnready () {
      isUnready = true
      service?.turnUnready()
    },
    reload: hangUps.receive,
    stop (received) {
      order = received
      logger.info(received ?? {}, received === undefined ? 'the parent has ended' : 'shutting down')
      end()
    },
    reports: () => service?.reports
  })
  if (role === undefined) endWithNpm(logger)
  const reload = await lifecycle.start(async () => {
    // The SDK comes first: the catalog's modules may use it while they load.
    const { openTraceSink } = await import('./features/tracing/tracing.ts')
    const readVersion = () => readBuild().version
    await lifecycle.open(openTraceSink({ url: otlpUrl, readVersion, log: logger }))
    const { createService } = await import('./app/app.ts')
    const build = adminPort === undefined ? undefined : readBuild()
    const { callers, authorConsole, desk } = await openAuthorParts(config, author)
    const options = {
      ...toAppConfig(config),
      environment: process.env,
      ...parent && { drainMs: 0 },
      ...callers && { auth: [], authenticator: callers }
    }
    const ownProcess = {
      guard,
      log,
      memory: readMemory(parent?.count),
      build,
      adminToken,
      signal: lifecycle.signal,
      workers: parent,
      isForAuthor: author !== undefined,
      authorConsole,
      desk
    }
    service = await lifecycle.open(createService(options, ownProcess))
    // The parent may say so during the start.
    if (isUnready) service.turnUnready()
    const url = await openAddresses(service, config, log, authorConsole?.path)
    if (author?.hasConsole === true && authorConsole === undefined) {
      logger.info(`there is no console: HOST is ${config.host}, and must be 127.0.0.1, localhost or ::1`)
    }
    if (author !== undefined) logger.info(describeInspector(url))
    parent?.tellReady()
    return service.reload
  })
  hangUps.handle(() => {
    logger.info({ signal: 'SIGHUP' }, 'reloading')
    updateLogLevel(logger, config)
    reload()
  })
}

async function openAuthorParts (config: Config, author: AuthorOptions | undefined): Promise<AuthorParts> {
  if (author === undefined) return {}
  const { desk }: Pick<AuthorParts, 'desk'> = {
    desk: (await import('./edges/desk/open-desk.ts')).openDesk(config, author.caller)
  }
  const parts: AuthorParts = {
    ...await (await import('./app/console.ts')).openConsole(config, author, desk, readConsolePage())
  }
  return { ...parts, desk }
}

function readConsolePage () {
  return {
    folder: fileURLToPath(new URL('../dist/console', import.meta.url)), version: readBuild().version
  }
}

/** The file is beside src/ and beside dist/. */
function readBuild (): Build {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return { version: String(version), node: process.versions.node }
}
