// Measures large catalog folders: the start, the memory, and the edit of one tool.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  DOCUMENTS, EDITED, editTool, FILES, FILES_IN_PACKAGE, MANY_TOOLS, PACKAGES, writeLargeFolder
} from '../catalog/large-folders.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, printServers, spreadText } from '../figures/table.mjs'
import { watchOthers } from '../load/others.mjs'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { workspacePath } from '../workspace.mjs'

const EDITS = 10
const POLL_MS = 20
const EDIT_TIMEOUT_MS = 30_000
/** After an edit is served, the service still announces it and collects what it has replaced. */
const AFTER_EDIT_MS = 500
const MIB = 2 ** 20

const KINDS = {
  few: '50 tools',
  files: `${grouped(FILES)} files`,
  documents: `${grouped(DOCUMENTS)} documents without a type`,
  tools: `${grouped(MANY_TOOLS)} tools`,
  packages: `${grouped(PACKAGES * FILES_IN_PACKAGE)} files in node_modules`
}

export const name = 'folders'
export const about = `start, memory and edits with ${Object.values(KINDS).slice(1).join(', ')}`

export async function run (options, show) {
  const rows = []
  for (const kind of Object.keys(KINDS)) {
    const catalog = workspacePath('catalog')
    await writeLargeFolder(catalog, kind)
    const builds = listBuilds(options, { catalog, toolCount: 0 })
    const figures = builds.map(() => [])
    for (let round = 0; round < options.coldStarts; round++) {
      for (const [index, build] of builds.entries()) {
        figures[index].push(await measureOnce(build, catalog, round))
      }
    }
    const row = { kind, servers: summarise(builds, figures) }
    rows.push(row)
    show([row])
  }
  return rows
}

async function measureOnce ({ start }, catalog, round) {
  const shareOfOthers = watchOthers()
  const startedAt = performance.now()
  const server = await start()
  try {
    await callEdited(server)
    const seconds = (performance.now() - startedAt) / 1000
    const { cpuMs, rssBytes } = await server.usage()
    const edits = []
    for (let edit = 0; edit < EDITS; edit++) edits.push(await editOnce(server, catalog, `${round}-${edit}`))
    const after = await server.usage()
    return {
      seconds,
      cpuSeconds: cpuMs / 1000,
      memoryMiB: rssBytes / MIB,
      editSeconds: medianOf(edits.map(({ seconds }) => seconds)),
      editCpuSeconds: medianOf(edits.map(({ cpuSeconds }) => cpuSeconds)),
      longestStallMs: Math.max(...edits.map(({ longestStallMs }) => longestStallMs)),
      longestStallCpuMs: Math.max(...edits.map(({ longestStallCpuMs }) => longestStallCpuMs)),
      memoryAfterMiB: after.rssBytes / MIB,
      others: shareOfOthers(after.cpuMs)
    }
  } finally {
    await server.stop()
  }
}

async function editOnce (server, catalog, text) {
  await server.watch()
  const before = await server.usage()
  const startedAt = performance.now()
  await editTool(catalog, text)
  while (await callEdited(server) !== text) {
    const isLate = performance.now() - startedAt > EDIT_TIMEOUT_MS
    if (isLate) throw new Error(`${server.url} has not loaded an edit`)
    await sleep(POLL_MS)
  }
  const seconds = (performance.now() - startedAt) / 1000
  await sleep(AFTER_EDIT_MS)
  const { cpuMs, longestStallMs, longestStallCpuMs } = await server.stopWatching()
  return { seconds, cpuSeconds: (cpuMs - before.cpuMs) / 1000, longestStallMs, longestStallCpuMs }
}

async function callEdited ({ url }) {
  const { content } = await ask(url, modernRequest('tools/call', { name: EDITED, arguments: {} }))
  return content[0].text
}

function medianOf (figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]
}

export function print (rows) {
  for (const { kind, servers } of rows) {
    printServers(`A folder with ${KINDS[kind]}, and the edit of one tool`, servers, [
      ['start s', ({ seconds }) => spreadText(seconds)],
      ['CPU s', ({ cpuSeconds }) => spreadText(cpuSeconds)],
      ['memory MiB', ({ memoryMiB }) => spreadText(memoryMiB)],
      ['edit s', ({ editSeconds }) => spreadText(editSeconds)],
      ['CPU s', ({ editCpuSeconds }) => spreadText(editCpuSeconds)],
      ['longest stall ms', ({ longestStallMs }) => spreadText(longestStallMs)],
      ['longest in own CPU ms', ({ longestStallCpuMs }) => spreadText(longestStallCpuMs)],
      [`memory after ${EDITS}`, ({ memoryAfterMiB }) => spreadText(memoryAfterMiB)]
    ])
  }
}

/** In CPU seconds, milliseconds and MiB. The memory has garbage that V8 has not collected yet. */
const TARGETS = {
  documents: { cpuSeconds: 1 },
  files: { cpuSeconds: 2, editCpuSeconds: 0.6, longestStallMs: 150, memoryAfterMiB: 500 },
  tools: { cpuSeconds: 5, editCpuSeconds: 0.5, memoryAfterMiB: 500 }
}
const MORE_WITH_PACKAGES = { cpuSeconds: 0.2, memoryMiB: 20 }

export function yardsticks (rows) {
  const ours = (kind) => rows.find((row) => row.kind === kind).servers.filter(({ name }) => name === TRIVET)
  const fixed = Object.entries(TARGETS).flatMap(([kind, targets]) => ours(kind).flatMap((server) => (
    Object.entries(targets).map(([key, atMost]) => (
      { name: `${KINDS[kind]}: ${key}, Node ${server.node}`, atMost, figure: server[key].median }
    ))
  )))
  const more = ours('packages').flatMap((server, index) => (
    Object.entries(MORE_WITH_PACKAGES).map(([key, atMost]) => ({
      name: `${KINDS.packages}: more ${key}, Node ${server.node}`,
      atMost,
      figure: server[key].median - ours('few')[index][key].median
    }))
  ))
  return [...fixed, ...more]
}
