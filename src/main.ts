#!/usr/bin/env node
// The process: settings from the environment, a listening socket, signals. The only file that touches
// `process`.

import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { createService } from './app.ts'
import { CatalogError } from './catalog/problem.ts'
import type { Snapshot } from './catalog/snapshot.ts'
import { ConfigError, readConfig, type Config } from './config.ts'

/** What closing needs beyond the deadline of the requests, in milliseconds. */
const CLOSING_MARGIN_MS = 3000

try {
  await serve(readConfig(process.env))
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof CatalogError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function serve ({ host, port, auth, ...config }: Config): Promise<void> {
  const logger = pino({ level: config.logLevel })
  const { app, catalog, drain } = await createService({ ...config, logger })

  // A tool that forgets a promise must not take down everyone else's requests.
  process.on(
    'unhandledRejection', (err) => logger.error({ err }, 'a promise was rejected and nobody handled it')
  )
  closeWithGrace({
    delay: config.drainMs + config.shutdownTimeoutMs + CLOSING_MARGIN_MS, logger, skip: ['unhandledRejection']
  }, async ({ err, signal }) => {
    if (err === undefined) logger.info({ signal }, 'shutting down')
    else logger.fatal({ err }, 'shutting down after an error that nobody caught')
    // Who presses Ctrl-C has no load balancer to wait for.
    if (signal === 'SIGTERM') await drain()
    await app.close()
  })

  // The line below says the same, for people too.
  logger.level = 'warn'
  const address = await app.listen({ host, port })
  logger.level = config.logLevel
  process.stdout.write(`${describe(catalog.current)} at ${address}${config.path}\n`)
}

function describe (
  { server: { info }, primitives: { tools, prompts, listed, templates } }: Snapshot
): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
  return `${info.title ?? info.name} serves ${count(tools.length, 'tool')}, ${count(prompts.length, 'prompt')}, ` +
    `${count(listed.length, 'resource')} and ${count(templates.length, 'resource template')}`
}
