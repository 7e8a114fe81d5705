#!/usr/bin/env node
// The process: reads settings from the environment, listens, and handles signals. No other file uses
// `process`.

import closeWithGrace from 'close-with-grace'
import { createService } from './app.ts'
import { CatalogError } from './catalog/problem.ts'
import type { Snapshot } from './catalog/snapshot.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { flushLog, openLog } from './log.ts'

/** The time for closing after the deadline of the requests, in milliseconds. */
const CLOSING_MARGIN_MS = 3000

try {
  await serve(readConfig(process.env))
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof CatalogError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function serve ({ host, port, auth, ...config }: Config): Promise<void> {
  const logger = openLog(config.logLevel)
  const { app, catalog, drain } = await createService({ ...config, logger })

  // A rejected promise in one tool must not end the requests of others.
  process.on('unhandledRejection', (err) => {
    logger.error({ err }, 'a promise was rejected and nobody handled it')
  })
  const delay = config.drainMs + config.shutdownTimeoutMs + CLOSING_MARGIN_MS
  closeWithGrace({ delay, logger, skip: ['unhandledRejection'] }, async ({ err, signal }) => {
    if (err === undefined) logger.info({ signal }, 'shutting down')
    else logger.fatal({ err }, 'shutting down after an error that nobody caught')
    // Ctrl-C is pressed at a terminal, where no load balancer must be waited for.
    if (signal === 'SIGTERM') await drain()
    await app.close()
    await flushLog(logger)
  })

  // Fastify would log the address. The line below has it too.
  logger.level = 'warn'
  const address = await app.listen({ host, port })
  logger.level = config.logLevel
  process.stdout.write(`${describe(catalog.current)} at ${address}${config.path}\n`)
}

function describe (
  { server: { info }, primitives: { tools, prompts, listed, templates } }: Snapshot
): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
  const [toolCount, promptCount] = [count(tools.length, 'tool'), count(prompts.length, 'prompt')]
  const resources = `${count(listed.length, 'resource')} and ${count(templates.length, 'resource template')}`
  return `${info.title ?? info.name} serves ${toolCount}, ${promptCount}, ${resources}`
}
