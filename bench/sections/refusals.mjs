// Measures what a refused call costs, of the call that it refuses: the same tool and the same arguments, but
// for what is wrong.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { tools } from '../catalog/definitions.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, saturationColumns } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createParams } from '../requests/arguments.mjs'
import { ID_MIXES } from '../requests/ids.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { createRandom } from '../requests/random.mjs'
import { CONNECTIONS, forServer, REQUESTS_EACH, toRing } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { startIssuer } from '../servers/issuer.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 50
/** The most CPU of a refused call, of the call that it refuses. */
const MOST = 0.8
const TOOL = 'search'
const LIMITED_TOOL = 'search_limited'
const SERVED = 'served'
const VERIFIED = 'served, a token that is not cached'
const BAD_TOKEN = 'bad token'

/**
 * Functions by kind. Each makes a refused request from a right one. `refusal` is a text of its answer, and
 * `status` the HTTP status.
 */
const KINDS = {
  limit: ({ params, id }) => (
    { ...toCall({ ...params, name: LIMITED_TOOL }, id), refusal: 'The limit is reached' }
  ),
  // Like all of the other names.
  'unknown tool': ({ params, id }) => (
    { ...toCall({ ...params, name: 'tool_025' }, id), refusal: 'Did you mean tool_0025' }
  ),
  'invalid arguments': ({ params: { arguments: args, ...params }, id }) => (
    { ...toCall({ ...params, arguments: { ...args, limit: 1000 } }, id), refusal: 'Invalid arguments' }
  ),
  'bad JSON': ({ body, ...request }) => (
    { ...request, body: body.slice(0, -1), refusal: 'Parse error', status: 400 }
  ),
  'wrong header': ({ headers, ...request }) => (
    { ...request, headers: { ...headers, 'mcp-name': LIMITED_TOOL }, refusal: 'Header mismatch', status: 400 }
  )
}

export const name = 'refusals'
export const about = 'the cost of refused calls, by what is wrong, of the calls that they refuse'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const write = (tool, limits) => (
    writeFile(join(catalog, 'tools', `${tool}.ts`), toolSource(tool, limits))
  )
  await write(TOOL, '')
  await write(LIMITED_TOOL, "limits: { calls: '1/1d' },")
  const calls = createCalls(options.ids)
  const servers = [
    ...await measure(options, { catalog }, toRingsByKind(calls)),
    ...await measureTokens(options, catalog, calls)
  ]
  show(servers)
  return servers
}

async function measureTokens (options, catalog, calls) {
  const issuer = await startIssuer()
  try {
    const settings = {
      TRIVET_AUTH: 'jwt', TRIVET_PUBLIC_URL: issuer.audience, TRIVET_AUTH_ISSUERS: issuer.url
    }
    const ringsByToken = await toRingsByToken(calls, issuer)
    return await measure(options, { catalog, settingsOf: () => settings }, ringsByToken)
  } finally {
    issuer.stop()
  }
}

/** @param {Record<string, object[]>} ringsByKind the others are compared with the first */
async function measure (options, data, ringsByKind) {
  const [[served]] = Object.entries(ringsByKind)
  return withStarted(listBuilds(options, { ...data, toolCount: TOOLS }), async (builds) => {
    const contenders = []
    for (const { name: build, node, server } of builds) {
      for (const [kind, shared] of Object.entries(ringsByKind)) {
        const rings = forServer(shared)
        await useUpLimit(server, kind, rings)
        await checkAnswers({ url: server.url, rings }, CHECKS)
        contenders.push({ name: `${build}, ${kind}`, build, node, server, rings })
      }
    }
    const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
    return summarise(contenders, figures, { ofServed: ({ build }) => `${build}, ${served}` })
  })
}

/** The first call of all is within the limit. */
async function useUpLimit ({ url }, kind, [{ requests: [{ headers, body }] }]) {
  if (kind === 'limit') await (await fetch(url, { method: 'POST', headers, body })).text()
}

/** The calls of each connection. */
function createCalls (ids) {
  const paramsOf = createParams('tools/call', 1)
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const random = createRandom(connection)
    return Array.from({ length: REQUESTS_EACH }, (_, place) => (
      toCall({ ...paramsOf(random), name: TOOL }, ID_MIXES[ids](place, random))
    ))
  })
}

function toCall (params, id) {
  return modernRequest('tools/call', params, id)
}

function toRingsByKind (calls) {
  const kinds = { [SERVED]: (call) => call, ...KINDS }
  return Object.fromEntries(Object.entries(kinds).map(([kind, toRequest]) => (
    [kind, calls.map((requests) => toRing(requests.map(toRequest)))]
  )))
}

/** Each request has a token of its own: there are more of them than the service caches. */
async function toRingsByToken (calls, issuer) {
  const served = []
  const refused = []
  for (const [connection, requests] of calls.entries()) {
    const signed = await Promise.all(requests.map(async ({ headers, ...request }, place) => {
      const token = await issuer.sign(`subject-${connection}-${place}`)
      return { ...request, headers: { ...headers, authorization: `Bearer ${token}` } }
    }))
    served.push(toRing(signed))
    refused.push(toRing(signed.map(({ headers, ...request }) => (
      { ...request, headers: spoilToken(headers), refusal: 'the access token is not valid', status: 401 }
    ))))
  }
  return { [VERIFIED]: served, [BAD_TOKEN]: refused }
}

/** Changes the signature. */
function spoilToken ({ authorization, ...headers }) {
  const at = authorization.length - 100
  const letter = authorization[at] === 'A' ? 'B' : 'A'
  return { ...headers, authorization: authorization.slice(0, at) + letter + authorization.slice(at + 1) }
}

const CHECKS = { 'tools/call': ({ structuredContent: { hits } }) => hits.length > 0 }

function toolSource (name, limits) {
  const [{ inputSchema, outputSchema }] = tools(1)
  return `import { defineTool } from 'trivet'
import { WORK } from '../lib/work.mjs'

export default defineTool({
  name: '${name}',
  description: 'Searches a collection and returns the entries that match, with a score for each.',
  ${limits}
  inputSchema: ${JSON.stringify(inputSchema)},
  outputSchema: ${JSON.stringify(outputSchema)},
  run: (args) => WORK.search('tool_0000', args)
})
`
}

export function print (servers) {
  printServers('tools/call, served and refused', servers, saturationColumns([['of served', 'ofServed']]))
}

export function yardsticks (servers) {
  return [...Object.keys(KINDS), BAD_TOKEN].flatMap((kind) => (
    servers.filter(({ name }) => name === `${TRIVET}, ${kind}`).map(({ node, ofServed }) => ({
      name: `CPU of a call refused for ${kind}, of that of the call, Node ${node}`,
      atMost: MOST,
      figure: ofServed.cpuUs.median
    }))
  ))
}
