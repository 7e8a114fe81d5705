// Loads generated catalogs. Each is served, or refused with problems that say what is wrong and where.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app/app.ts'
import { CatalogError, type Problem } from '../../src/catalog/compiled/problem.ts'
import { writeInPlace, type Files } from '../helpers/catalog-folder.ts'
import { QUIET } from '../helpers/quiet-options.ts'
import { send } from '../helpers/request.ts'
import { makeCatalog } from './broken-catalogs.ts'

export interface CatalogFailure {
  readonly index: number
  readonly problem: string
  /** The files that may have something wrong. */
  readonly files: Files
}

export interface CatalogReport {
  readonly served: number
  readonly refused: number
  readonly failures: readonly CatalogFailure[]
  /** Problems of a whole file or definition: their text names the field. */
  readonly placeless: number
  readonly placed: number
  readonly slowestMs: number
}

/** A load may not take longer, in milliseconds. */
const DEADLINE_MS = 10_000
/** Texts of errors that nobody has meant for an author. */
const INTERNAL =
  /Cannot read propert|is not a function|is not iterable|Maximum call stack|\[object O|Internal/
const METHODS = [
  'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'skills/list', 'server/discover'
]

export async function fuzzCatalogs (
  { seed, catalogs, onProgress = () => {} }: {
    readonly seed: number
    readonly catalogs: number
    readonly onProgress?: (loaded: number) => void
  }
): Promise<CatalogReport> {
  const failures: CatalogFailure[] = []
  let [served, refused, slowestMs, placed, placeless] = [0, 0, 0, 0, 0]
  for (let index = 0; index < catalogs; index++) {
    const { files, changed } = makeCatalog(seed, index)
    const startedAt = performance.now()
    const { problems, wrong } = await load(files)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    if (problems.length > 0) refused++
    else if (wrong.length === 0) served++
    const withPlace = problems.filter(({ place }) => place !== '').length
    placed += withPlace
    placeless += problems.length - withPlace
    for (const problem of [...wrong, ...problems.flatMap((one) => [...findFaults(one, files)])]) {
      const suspects = Object.fromEntries(changed.map((path) => [path, files[path] ?? '']))
      failures.push({ index, problem, files: suspects })
    }
    if ((index + 1) % 100 === 0) onProgress(index + 1)
  }
  return { served, refused, failures, placed, placeless, slowestMs }
}

interface Outcome { readonly problems: readonly Problem[], readonly wrong: readonly string[] }

async function load (files: Files): Promise<Outcome> {
  const root = await mkdtemp(join(tmpdir(), 'trivet-fuzz-'))
  for (const [path, contents] of Object.entries(files)) await writeInPlace(root, path, contents)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ problems: [], wrong: ['the load does not end'] }), DEADLINE_MS)
  })
  try {
    return await Promise.race([late, serve(root)])
  } finally {
    clearTimeout(timer)
    await rm(root, { recursive: true, force: true })
  }
}

/** Loads the catalog, and reads each list of it. */
async function serve (root: string): Promise<Outcome> {
  try {
    const app = await createApp({ catalog: root, ...QUIET })
    try {
      const wrong: string[] = []
      for (const method of METHODS) {
        const { status, response } = await send(app, { method })
        const isWrong = status !== 200 || response.error !== undefined
        if (isWrong) wrong.push(`${method}: ${JSON.stringify(response)}`)
      }
      return { problems: [], wrong }
    } finally {
      await app.close()
    }
  } catch (error) {
    if (error instanceof CatalogError) return { problems: error.problems, wrong: [] }
    return { problems: [], wrong: [error instanceof Error ? error.stack ?? error.message : String(error)] }
  }
}

function * findFaults ({ file, place, rule }: Problem, files: Files): Generator<string> {
  const folder = file.endsWith('/') ? file : `${file}/`
  const isKnown = Object.keys(files).some((path) => path === file || path.startsWith(folder))
  if (!isKnown) yield `a problem of ${JSON.stringify(file)}, which is no file: ${rule}`
  if (rule.trim() === '' || rule.length > 5000) yield `a problem of ${file} whose text has ${rule.length} letters`
  if (INTERNAL.test(rule)) yield `the text of an internal error: ${file}: ${place}: ${rule}`
}
