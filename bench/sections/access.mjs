// Measures the cost of verifying access tokens: the same requests, each with a token, to a service that lets
// everyone in and reads no token, and to one that verifies them.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, saturationColumns } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createChecks } from '../requests/answers.mjs'
import { createRings, forServer, toRing } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { startIssuer } from '../servers/issuer.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 50
const METHODS = ['tools/call', 'tools/list']
const MODES = ['none', 'jwt']

export const name = 'access'
export const about = 'calls and lists with access tokens, verified and unread'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const issuer = await startIssuer()
  try {
    const data = { catalog, toolCount: TOOLS }
    const contenders = MODES.flatMap((mode) => (
      listBuilds(options, { ...data, settingsOf: () => settingsOf(mode, issuer) }).map((build) => (
        { ...build, name: `${build.name}, ${mode}`, build: build.name, mode }
      ))
    ))
    return await withStarted(contenders, async (started) => {
      const rows = []
      for (const method of METHODS) {
        const row = { method, servers: await measure(options, started, method, issuer) }
        rows.push(row)
        show([row])
      }
      return rows
    })
  } finally {
    issuer.stop()
  }
}

function settingsOf (mode, { url, audience }) {
  const asked = { TRIVET_PUBLIC_URL: audience, TRIVET_AUTH_ISSUERS: url }
  return { TRIVET_AUTH: mode, ...mode === 'jwt' && asked }
}

async function measure (options, started, method, issuer) {
  const shared = await withTokens(createRings({ method, toolCount: TOOLS, ids: options.ids }), issuer)
  const contenders = []
  for (const contender of started) {
    const rings = forServer(shared)
    await checkAnswers({ url: contender.server.url, rings }, createChecks(TOOLS))
    contenders.push({ ...contender, rings })
  }
  const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
  return summarise(contenders, figures, { ofOpen: ({ build }) => `${build}, ${MODES[0]}` })
}

/** Each connection has a token of its own. */
async function withTokens (rings, issuer) {
  return Promise.all(rings.map(async ({ requests }, connection) => {
    const authorization = `Bearer ${await issuer.sign(`subject-${connection}`)}`
    return toRing(requests.map((request) => (
      { ...request, headers: { ...request.headers, authorization } }
    )))
  }))
}

export function print (rows) {
  for (const { method, servers } of rows) {
    printServers(`${method}, ${TOOLS} tools, by TRIVET_AUTH`, servers, saturationColumns([
      ['of none', 'ofOpen']
    ]))
  }
}

export function yardsticks (rows) {
  const { servers } = rows.find(({ method }) => method === 'tools/call')
  return servers.filter(({ name }) => name === `${TRIVET}, jwt`).map(({ node, ofOpen }) => ({
    name: `tools/call with verified tokens, answers of those unread, Node ${node}`,
    atLeast: 0.9,
    figure: ofOpen.perSecond.median
  }))
}
