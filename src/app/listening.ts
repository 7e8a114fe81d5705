// Opens the addresses of a service that runs as a process of its own, and announces them.

import type { FastifyInstance } from 'fastify'
import type { Service } from './app.ts'
import { StartError } from '../base/lifecycle.ts'
import { codeOf, counted, messageOf } from '../base/words.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { Config } from '../ops/config/settings.ts'
import type { ServiceLog } from '../ops/log/log.ts'

type Advice = { readonly [code: string]: string }

/** Says what to do about an error of listening, by its code. */
const toAdvice = (host: string, port: string): Advice => ({
  EADDRINUSE: 'another process listens there; end it, or set ' + port,
  EACCES: `this user may not use the port; set ${port} to 1024 or more`,
  EADDRNOTAVAIL: `this machine does not have the address; correct ${host}`,
  ENOTFOUND: `no machine has this name; correct ${host}`
})

const LISTEN_ADVICE = toAdvice('HOST', 'PORT')
const ADMIN_ADVICE = toAdvice('TRIVET_ADMIN_HOST', 'TRIVET_ADMIN_PORT')

/** Resolves to the URL of the endpoint. Rejects with a StartError if the service cannot listen. */
export async function openAddresses (
  { app, admin, catalog }: Service, config: Config, { logger, announce }: ServiceLog, consolePath?: string
): Promise<string> {
  const { host, port, adminHost, adminPort, path } = config
  const { level } = logger
  // Fastify would log the addresses. The announced lines have them too.
  logger.level = 'warn'
  const adminAddress = admin && await listen(admin, adminHost, adminPort, ADMIN_ADVICE)
  const address = await listen(app, host, port, LISTEN_ADVICE)
  const url = `${address}${path}`
  announce({ url }, describe(catalog.current))
  if (consolePath !== undefined) announce({ url: `${address}${consolePath}` }, 'the console is')
  if (adminAddress !== undefined) announce({ url: `${adminAddress}/metrics` }, 'serves metrics')
  logger.level = level
  return url
}

/** The era that has all of the protocol. The Inspector takes the earlier one by default. */
const INSPECTOR = 'npx @modelcontextprotocol/inspector --transport http --protocol-era modern --server-url'

/** Returns the line of the log that says how to open the official Inspector at the endpoint. */
export function describeInspector (url: string): string {
  // The address of all interfaces is none to connect to.
  return `The Inspector opens it: ${INSPECTOR} ${url.replace('//[::]', '//[::1]')}`
}

async function listen (
  app: FastifyInstance, host: string, port: number | undefined, advices: Advice
): Promise<string> {
  try {
    return await app.listen({ host, port: port ?? 0 })
  } catch (error) {
    const code = String(codeOf(error) ?? '')
    const advice = advices[code]
    const reason = advice === undefined ? messageOf(error) : `${advice} (${code})`
    throw new StartError(`Cannot listen on port ${port} of ${host}: ${reason}`, { cause: error })
  }
}

function describe (
  { server: { info }, primitives: { tools, prompts, listed, templates } }: Snapshot
): string {
  const parts = [counted(tools.length, 'tool'), counted(prompts.length, 'prompt')]
  const resources = [counted(listed.length, 'resource'), counted(templates.length, 'resource template')]
  return `${info.title ?? info.name} serves ${[...parts, resources.join(' and ')].join(', ')}`
}
