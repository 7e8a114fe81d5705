// The tests that run in a copy of the project from which a part of the service was deleted: what is left must
// pass them.
//
// All of them would take minutes for each copy. So each room beside what was deleted, on the same floor, and
// each room of which something was cut gives two files: the smallest one that opens the whole app, and the
// smallest other one. So does each room that is left when everything is deleted at once.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlone, listImports, listNeeds, listTests, PROJECT } from '../runner/needs.mjs'
import { listRooms } from '../runner/rooms.mjs'
import { REMOVALS, type Removal } from './removals.ts'

type Name = keyof typeof REMOVALS

/** What a test file imports, or is, and the features that it needs without an import of them. */
const NEEDED: { readonly [path: string]: readonly Name[] } = {
  'test/helpers/admin.ts': ['admin', 'metrics'],
  'test/helpers/session.ts': ['legacy'],
  'test/helpers/operator-sdk.mjs': ['tracing'],
  'test/catalog/compiled/settings.test.ts': ['upstreams'],
  'test/edges/http/log-canaries.test.ts': ['audit'],
  'test/edges/http/mcp-route.test.ts': ['legacy'],
  'test/edges/http/stateful-request-cost.test.ts': ['files'],
  'test/edges/http/taken-back.test.ts': ['tasks'],
  'test/features/metrics/limit-metrics.test.ts': ['admin'],
  'test/features/metrics/request-metrics.test.ts': ['admin'],
  'test/ops/config/config.test.ts': ['files', 'overload', 'signIn'],
  'test/platform/limits/call-limits.test.ts': ['tasks'],
  'test/platform/store/any-text.test.ts': ['tasks'],
  'test/platform/store/backends/url-schemes.test.ts': ['redis'],
  'test/platform/store/records/migrate.test.ts': ['lmdb'],
  'test/programs/cli/state.test.ts': ['lmdb']
}

/** What is cut from the tests of a copy: an option that a feature reads. */
export const TEST_CUTS = { 'test/helpers/quiet-options.ts': /, overload: 'off'/ }

const APP = 'test/helpers/app.ts'
/** What runs dist/, which a copy does not have, and files that take seconds. */
const LEFT_OUT = [
  'test/helpers/service.ts', 'test/programs/testing/package.test.ts',
  'test/edges/http/readiness.test.ts', 'test/edges/http/store-check.test.ts',
  'test/features/tasks/progress.test.ts', 'test/platform/store/records/principals.test.ts'
]

/** The tables name files that exist. */
export const NAMED_TESTS = [...Object.keys(NEEDED), ...LEFT_OUT]

/** The sources that a file of test/ imports. */
function readSources (file: string): string[] {
  const source = readFileSync(join(PROJECT, file), 'utf8')
  return [...source.matchAll(/(?:from |import\(|URL\()'(\.[^']+)'/g)]
    .map(([, path = '']) => join(dirname(file), path)).filter((path) => path.startsWith('src/'))
}

const isIn = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`)

/** All that can be deleted, at once. */
export const EVERYTHING = joinRemovals(Object.values(REMOVALS))

function joinRemovals (removals: readonly Removal[]): Removal {
  const paths = removals.flatMap(({ paths }) => paths)
  const files = new Set(removals.flatMap(({ cuts }) => Object.keys(cuts)))
  const cuts = [...files].filter((file) => !paths.some((path) => isIn(path, file)))
    .map((file) => [file, removals.flatMap((removal) => removal.cuts[file] ?? [])] as const)
  return { paths, cuts: Object.fromEntries(cuts) }
}

const listFolders = (folder: string) => readdirSync(join(PROJECT, 'src', folder), { withFileTypes: true })
  .flatMap((entry) => entry.isDirectory() ? [join(folder, entry.name)] : [])

/** Lists the rooms beside what is deleted, and those of which something is cut. */
function listNeighbours ({ paths: [path = ''], cuts }: Removal): string[] {
  const rooms = Object.keys(cuts).map((file) => dirname(file)).filter((room) => room !== '.')
  // The room app/ has no tests of its own. Those of the methods open it.
  return [...listFolders(dirname(path)), ...rooms.map((room) => room === 'app' ? 'request/methods' : room)]
}

/** Lists the test files that can pass without what is deleted, the smallest first. */
function listCandidates (names: readonly string[], { paths }: Removal): string[] {
  const folders = paths.flatMap((path) => [`src/${path}`, `test/${path}`])
  const isDeleted = (path: string) => folders.some((folder) => isIn(folder, path))
  const needs = Object.entries(NEEDED)
    .flatMap(([path, features]) => features.some((name) => names.includes(name)) ? [path] : [])
  const candidates = listTests().filter((file) => {
    if (listNeeds(file).length > 0 || isAlone(file)) return false
    const files = [...listImports(file)]
    if (files.some((path) => isDeleted(path) || needs.includes(path) || LEFT_OUT.includes(path))) return false
    return !files.flatMap(readSources).some(isDeleted)
  })
  const sizes = new Map(candidates.map((file) => [file, statSync(join(PROJECT, file)).size]))
  return candidates.toSorted((file, other) => (sizes.get(file) ?? 0) - (sizes.get(other) ?? 0))
}

const opensApp = (file: string) => listImports(file).has(APP)

function choose (rooms: readonly string[], candidates: readonly string[]): string[] {
  return [...new Set(rooms.flatMap((room) => {
    const files = candidates.filter((file) => isIn(`test/${room}`, file))
    return [files.find(opensApp) ?? [], files.find((file) => !opensApp(file)) ?? []].flat()
  }))]
}

/** Lists the tests that are run without a part. */
export const listNeighbourTests = (name: Name): string[] =>
  choose(listNeighbours(REMOVALS[name]), listCandidates([name], REMOVALS[name]))

/** Lists the tests that are run without any of the parts. */
export const listTestsOfTheRest = (): string[] =>
  choose(listRooms(), listCandidates(Object.keys(REMOVALS), EVERYTHING))
