// The contenders: all servers that are measured, and how each is started. The contenders on each Node are
// bare Fastify, Trivet, other builds of Trivet, the SDK and peers.

import { fileURLToPath } from 'node:url'
import { LEGACY_REVISION } from '../requests/messages.mjs'
import { listPeers } from './peers.mjs'
import { startServer } from './server-process.mjs'
import { trivetToStart } from './trivet.mjs'

export const TRIVET = 'Trivet'
export const CEILING = 'bare Fastify'
export const FLOOR = 'Fastify with the same checks'
export const SDK_DOCUMENTED = 'SDK as documented'
export const SDK_HOISTED = 'SDK, schemas made once'
const SILENT = { TRIVET_LOG_LEVEL: 'silent' }
const SILENT_CEILING = `${CEILING}, silent`
export const SILENT_LEGACY = `${TRIVET}, silent, ${LEGACY_REVISION}`

/** The groups that `--servers` chooses from. */
export const GROUPS = {
  trivet: 'Trivet, at its default settings but for shedding, and each build of --against',
  fastify: 'bare Fastify that makes its own answers, with a log line for each request',
  checked: 'Fastify, written by hand for this catalog, with the checks that Trivet makes of each request',
  silent: 'Trivet and bare Fastify again, without a log; also Trivet with requests of an earlier revision',
  sdk: 'the official SDK: as documented, and with its schemas made once',
  peers: 'other MCP servers; see --peers'
}

/**
 * @param {object} options the options of the command line
 * @param {object} data
 * @param {string} data.catalog
 * @param {number} data.toolCount
 * @param {string} [data.answersFile] the results that bare Fastify answers with
 * @param {string} [data.files] the folder of files that bare Fastify reads
 * @param {() => Record<string, string>} [data.settingsOf] environment variables of a Trivet that differ from
 *   the defaults
 * @returns {object[]} for each contender: `name`, `node`, `start`, `ceiling` and `trivet`, the names of the
 *   two contenders that it is compared with, and the traits of peers: `isLegacy`, `works`, `differs`,
 *   `methods`, `ownParams`
 */
export function listContenders (options, data) {
  const { catalog, toolCount, answersFile, files = '', settingsOf = () => ({}) } = data
  const has = (group) => options.servers.includes(group)
  const isSilent = has('silent')
  return options.nodes.flatMap((node) => {
    const trivet = (main, settings) => startable(() => (
      trivetToStart({ main, node: node.path, catalog, settings: { ...settingsOf(), ...settings } })
    ))
    const ours = (file, env) => startable(() => ({ node: node.path, file: pathOf(file), env }))
    const given = { BENCH_ANSWERS: answersFile, BENCH_FILES: files }
    const fastify = (log) => ours('bare-fastify.mjs', { ...given, BENCH_LOG: log })
    const tools = { BENCH_TOOLS: String(toolCount) }
    const logging = { ceiling: CEILING, trivet: TRIVET }
    const silent = { ceiling: SILENT_CEILING, trivet: `${TRIVET}, silent` }
    /** A peer of the earlier revision is compared with a Trivet that gets the same requests. */
    const compared = ({ isLegacy }) => isLegacy ? { ...silent, trivet: SILENT_LEGACY } : silent
    return [
      has('fastify') && { name: CEILING, ...fastify('info'), ...logging },
      has('checked') && { name: FLOOR, ...ours('checked-fastify.mjs', given), ...logging },
      isSilent && has('fastify') && { name: SILENT_CEILING, ...fastify('silent'), ...silent },
      has('trivet') && { name: TRIVET, ...trivet(options.main), ...logging },
      ...options.against.map(({ name, main }) => has('trivet') && { name, ...trivet(main), ...logging }),
      isSilent && has('trivet') && { name: silent.trivet, ...trivet(options.main, SILENT), ...silent },
      isSilent && has('trivet') && {
        name: SILENT_LEGACY,
        ...trivet(options.main, SILENT),
        ...silent,
        isLegacy: true,
        differs: 'gets the requests of the peers of this revision, in sessions'
      },
      has('sdk') && { name: SDK_DOCUMENTED, ...ours('sdk-documented.mjs', tools), ...silent },
      has('sdk') && { name: SDK_HOISTED, ...ours('sdk-hoisted.mjs', tools), ...silent },
      ...has('peers') ? listPeers(node, toolCount).map((peer) => ({ ...compared(peer), ...peer })) : []
    ].filter(Boolean).map((contender) => ({ ...contender, node: node.version }))
  })
}

/** `toStart` makes the options of `startServer`. `start` starts the server. */
function startable (toStart) {
  return { toStart, start: async () => startServer(await toStart()) }
}

/** The builds of Trivet: the build of `--build`, and each build of `--against`. */
export function listBuilds (options, data) {
  return listContenders({ ...options, servers: ['trivet'] }, data)
}

function pathOf (file) {
  return fileURLToPath(new URL(file, import.meta.url))
}
