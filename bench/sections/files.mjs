// Measures reads of plain files, compared with reads of modules that return the same contents.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { randomContents } from '../catalog/large-files.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, saturationColumns } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { ID_MIXES } from '../requests/ids.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { createRandom } from '../requests/random.mjs'
import { CONNECTIONS, forServer, REQUESTS_EACH, toRing } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 5
/** The files of each kind. */
const FILES = 16
/** `atMost`: the CPU of a read of the file, as a multiple of that of the module. */
const KINDS = [
  { title: 'a note of 40 bytes', kind: 'text', bytes: 40, atMost: 1.15 },
  { title: '8 kB of text', kind: 'text', bytes: 8000, atMost: 1.5 },
  { title: '8 kB of bytes', kind: 'binary', bytes: 8000, atMost: 1.5 }
]

export const name = 'files'
export const about = 'reads of plain files, compared with modules that return the same contents'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const contents = KINDS.map(({ kind, bytes }) => (
    Array.from({ length: FILES }, () => randomContents(kind, bytes))
  ))
  await writeContents(catalog, contents)
  return withStarted(listBuilds(options, { catalog, toolCount: TOOLS }), async (builds) => {
    const rows = []
    for (const [index, { title, kind }] of KINDS.entries()) {
      const contenders = []
      for (const build of builds) {
        for (const source of ['module', 'file']) {
          const rings = forServer(createReads(options.ids, source, index))
          await checkAnswers({ url: build.server.url, rings }, createCheck(kind, contents[index]))
          contenders.push({ ...build, source, build: build.name, name: nameOf(build.name, source), rings })
        }
      }
      const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
      const servers = summarise(contenders, figures, { ofModule: ({ build }) => nameOf(build, 'module') })
      rows.push({ title, servers })
      show([{ title, servers }])
    }
    return rows
  })
}

/** Each file stands beside a module that returns the same. */
async function writeContents (catalog, contents) {
  const folder = join(catalog, 'resources', 'pages')
  await mkdir(folder, { recursive: true })
  for (const [index, { kind }] of KINDS.entries()) {
    for (const [file, bytes] of contents[index].entries()) {
      await writeFile(join(folder, `${index}-${file}.${kind === 'text' ? 'md' : 'bin'}`), bytes)
      await writeFile(join(folder, `${index}-${file}.resource.ts`), moduleSource(index, file, bytes))
    }
  }
}

function moduleSource (index, file, bytes) {
  const { kind } = KINDS[index]
  const [mimeType, value] = kind === 'text'
    ? ['text/markdown', JSON.stringify(bytes.toString())]
    : ['application/octet-stream', `Buffer.from('${bytes.toString('base64')}', 'base64')`]
  return `import { defineResource } from 'trivet'

const contents = ${value}

export default defineResource({
  uri: '${uriOf('module', index, file)}',
  name: 'page_${index}_${file}',
  mimeType: '${mimeType}',
  read: () => contents
})
`
}

function uriOf (source, index, file) {
  if (source === 'module') return `page://${index}/${file}`
  return `file:///pages/${index}-${file}.${KINDS[index].kind === 'text' ? 'md' : 'bin'}`
}

function createReads (ids, source, index) {
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const random = createRandom(connection)
    return toRing(Array.from({ length: REQUESTS_EACH }, (_, place) => {
      const id = ID_MIXES[ids](place, random)
      return modernRequest('resources/read', { uri: uriOf(source, index, random(FILES)) }, id)
    }))
  })
}

function createCheck (kind, contents) {
  return {
    'resources/read': ({ contents: [part] }, { uri }) => {
      const bytes = contents[Number(/\d+(?=\.|$)/.exec(uri.split(/[-/]/).at(-1)))]
      return kind === 'text' ? part.text === bytes.toString() : part.blob === bytes.toString('base64')
    }
  }
}

function nameOf (build, source) {
  return `${build}, ${source}`
}

export function print (rows) {
  for (const { title, servers } of rows) {
    printServers(`resources/read of ${title}`, servers, saturationColumns([['of a module', 'ofModule']]))
  }
}

export function yardsticks (rows) {
  return rows.flatMap(({ title, servers }, index) => (
    servers.filter(({ name }) => name === nameOf(TRIVET, 'file')).map(({ node, ofModule }) => ({
      name: `resources/read of ${title}, CPU of that of a module, Node ${node}`,
      atMost: KINDS[index].atMost,
      figure: ofModule.cpuUs.median
    }))
  ))
}
