// Measures large resources: each file is read and sent whole. Bare Fastify reads the same file and makes the
// same answer.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { LARGE_FILES, writeLargeFiles } from '../catalog/large-files.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, rounded, spreadText } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { forServer, toRing } from '../requests/rings.mjs'
import { listContenders, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { recordAnswers } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 5
const CONNECTIONS = 4
const REQUESTS_EACH = 64

export const name = 'payloads'
export const about = 'reads of text and binary files of 1 and 5 MiB: ratio to bare Fastify, memory, stalls'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  await writeLargeFiles(catalog)
  const files = join(catalog, 'resources')
  const answersFile = await recordAnswers({ ...options, catalog, toolCount: TOOLS })
  const servers = options.servers.filter((group) => group === 'fastify' || group === 'trivet')
  const listed = listContenders({ ...options, servers }, { catalog, toolCount: TOOLS, answersFile, files })
  return withStarted(listed, async (started) => {
    const rows = []
    for (const large of LARGE_FILES) {
      const row = await measureReads(options, started, large, await readFile(join(files, large.file)))
      rows.push(row)
      show([row])
    }
    return rows
  })
}

async function measureReads (options, started, { title, kind, uri }, bytes) {
  const ids = Array.from({ length: REQUESTS_EACH }, (_, place) => place + 1)
  const requests = ids.map((id) => modernRequest('resources/read', { uri }, id))
  const rings = Array.from({ length: CONNECTIONS }, () => toRing(requests))
  const key = kind === 'text' ? 'text' : 'blob'
  const expected = bytes.toString(kind === 'text' ? 'utf8' : 'base64')
  const isRight = { 'resources/read': ({ contents: [one] }) => one.uri === uri && one[key] === expected }
  const contenders = started.map((contender) => ({ ...contender, rings: forServer(rings) }))
  for (const { server, rings } of contenders) await checkAnswers({ url: server.url, rings }, isRight, 1)
  const figures = await saturateInTurns(contenders, { ...options, watches: true })
  return { title, servers: summarise(contenders, figures, { ofCeiling: ({ ceiling }) => ceiling }) }
}

export function print (rows) {
  for (const { title, servers } of rows) {
    printServers(`resources/read of ${title}, ${CONNECTIONS} connections`, servers, [
      ['req/s', ({ perSecond }) => spreadText(perSecond)],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.perSecond)],
      ['CPU ms', ({ cpuUs }) => spreadText(cpuUs, (us) => rounded(us / 1000))],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.cpuUs)],
      ['longest stall ms', ({ longestStallMs }) => spreadText(longestStallMs)],
      ['of own CPU', ({ longestStallCpuMs }) => spreadText(longestStallCpuMs)],
      ['most memory MiB', ({ peakMiB }) => spreadText(peakMiB)]
    ])
  }
}

export function yardsticks (rows) {
  return rows.flatMap(({ title, servers }) => (
    servers.filter(({ name }) => name === TRIVET).map(({ node, ofCeiling }) => ({
      name: `resources/read of ${title}, of bare Fastify, by CPU, Node ${node}`,
      atLeast: 0.8,
      figure: ofCeiling && 1 / ofCeiling.cpuUs.median
    }))
  ))
}
