// Who is measured, and how each is started.

import { fileURLToPath } from 'node:url'
import { startServer } from './server-process.mjs'
import { workspacePath } from './workspace.mjs'

/** The denominator of the yardsticks. */
export const CEILING = 'bare Fastify'
/** What is left of it for whoever makes the answer of a call and does not only send it. */
export const MAKING_CEILING = 'bare Fastify, making'
export const TRIVET = 'Trivet'
export const TRIVET_LOGGING = 'Trivet, log level info'
export const SDK_DOCUMENTED = 'SDK as documented'

const BARE = { 'bare node:http': 'node-http.mjs', [CEILING]: 'fastify.mjs', [MAKING_CEILING]: 'fastify-making.mjs' }
const SECRET = 'sealed for the length of a benchmark'
const SDK = { [SDK_DOCUMENTED]: 'sdk-documented.mjs', 'SDK, schemas hoisted': 'sdk-hoisted.mjs' }

/**
 * @param {string} main Trivet's entry
 * @param {string} catalog its folder
 * @param {{ watch?: boolean, logging?: boolean, stateUrl?: string, settings?: Record<string, string> }} [options] `settings`: further variables
 */
export function startTrivet (main, catalog, { watch = false, logging = false, stateUrl = 'memory:', settings = {} } = {}) {
  return startServer(main, {
    HOST: '127.0.0.1',
    PORT: '0',
    TRIVET_CATALOG: catalog,
    TRIVET_WATCH: watch ? 'on' : 'off',
    TRIVET_STATE_URL: stateUrl,
    // Whoever shares state must have the same; the others are none the wiser.
    TRIVET_SECRETS: SECRET,
    TRIVET_LOG_LEVEL: logging ? 'info' : 'warn',
    TRIVET_PAGE_SIZE: '10000',
    ...settings
  }, logging ? { outputFile: workspacePath('trivet.log') } : {})
}

/**
 * The bare peers, as pairs of name and server.
 *
 * @param {string} answersFile what they send
 */
export function barePeers (answersFile) {
  return startEach(BARE, { BENCH_ANSWERS: answersFile })
}

/** The peers on the official SDK, as pairs of name and server. */
export function sdkPeers (toolCount) {
  return startEach(SDK, { BENCH_TOOLS: String(toolCount) })
}

/** The bare node:http peer that holds streams open. */
export function startBareStreams (answersFile) {
  return startServer(pathOf('node-http-streams.mjs'), { BENCH_ANSWERS: answersFile })
}

async function startEach (files, env) {
  const started = []
  for (const [name, file] of Object.entries(files)) started.push([name, await startServer(pathOf(file), env)])
  return started
}

function pathOf (file) {
  return fileURLToPath(new URL(`peers/${file}`, import.meta.url))
}
