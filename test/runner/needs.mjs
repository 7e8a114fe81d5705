// The test files of each command. A file belongs to `npm run test:all` if it imports, directly or not, what
// needs more than Node. All others belong to `npm test`.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** What a file of `npm run test:all` imports, or is, and the need behind it. */
export const NEEDS = {
  'test/servers/programs.ts': 'programs that Node does not bring: servers, browsers, tools of operators',
  'test/docs/commands.ts': 'programs that readers of the documentation have',
  'test/helpers/project-copy.ts': 'a second build',
  'test/container.test.ts': 'a second build, and packages that npm installs',
  'test/package.test.ts': 'packages that npm installs, and three versions of Node',
  'test/replicas/chaos-tasks-load.ts': 'time: replicas are killed and started again and again',
  'test/fuzz/random.ts': 'time: thousands of random messages',
  'test/simulation/run-plan.ts': 'time: random orders of events',
  'test/platform/schema/keyword-values.ts': 'time: the largest values for each keyword in each place',
  'test/edges/http/body-structure-cost.test.ts': 'a quiet machine: the CPU times of bodies are compared',
  'test/edges/http/refusals.test.ts': 'a quiet machine: thousands of clients that still send are refused',
  'test/edges/http/slow-senders.test.ts': 'a quiet machine: honest clients beside an attack',
  'test/features/upstreams/one-attacker.test.ts': 'a quiet machine: honest clients beside an attack',
  'test/platform/access/one-stranger.test.ts': 'a quiet machine: honest clients beside an attack',
  'test/platform/limits/waiting-bytes.test.ts': 'a quiet machine: clients that read slowly are timed'
}

/**
 * Files with a process of their own. The API of OpenTelemetry takes one provider of a process. Another file
 * counts the timers of its process, one reads stacks, in which this runner would have frames, and one begins
 * without the packages that modules of a catalog have loaded.
 */
const ALONE = [
  'test/features/tracing/', 'test/platform/store/start-leftovers', 'test/programs/cli/call.test.ts',
  'test/platform/schema/standard-schema.test.ts'
]
/**
 * What other files with a process of their own have in their source: they set a provider too, or collect all
 * garbage, which is slow in a process that has run other files.
 */
const ALONE_BY_TEXT = ['/recorded-spans.ts', '--expose-gc']

/** The longest files begin first, so that nothing long is left over when all else has ended. */
const LONG = [
  'test/removals', 'test/package', 'test/workers', 'test/docs/blocks', 'test/fuzz/fuzz',
  'test/features/upstreams/one-attacker', 'test/platform/access/one-stranger', 'test/replicas/chaos-tasks',
  'test/programs/process/signal-ways', 'test/container', 'test/replicas/', 'test/edges/console/',
  'test/simulation/', 'test/fuzz/', 'test/seams/',
  'test/hostile', 'test/edges/http/large-bursts', 'test/programs/process/worker-faults',
  'test/platform/store/start-', 'test/platform/store/backends/redis/state-store',
  'test/platform/schema/keyword', 'test/deploy/store-', 'test/sessions-memory', 'test/overload',
  'test/signals', 'test/main', 'test/programs/cli/plain-host', 'test/hosts/', 'test/features/tracing/',
  'test/text-cuts', 'test/start', 'test/runner/', 'test/request/methods/hidden',
  'test/programs/testing/replay'
]

const imports = new Map()

/** Reads which files of test/ a file imports. Types are not needed to run it. */
function readImports (file) {
  let paths = imports.get(file)
  if (paths === undefined) {
    const source = readFileSync(join(PROJECT, file), 'utf8')
    paths = [...source.matchAll(/^(?:import|export) (?!type )[^']*'(\.[^']+)'/gm)]
      .map(([, path]) => join(dirname(file), path))
      .filter((path) => path.startsWith('test/') && existsSync(join(PROJECT, path)))
    imports.set(file, paths)
  }
  return paths
}

/** Lists a file of test/ and all files there that it imports, directly or not. */
export function listImports (file, seen = new Set()) {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const path of readImports(file)) listImports(path, seen)
  return seen
}

/** Lists what a file imports of `NEEDS`. */
export function listNeeds (file) {
  const paths = listImports(file)
  return Object.keys(NEEDS).filter((path) => paths.has(path))
}

/** Whether a file has a process of its own. */
export function isAlone (file) {
  if (ALONE.some((start) => file.startsWith(start))) return true
  const source = readFileSync(join(PROJECT, file), 'utf8')
  return ALONE_BY_TEXT.some((text) => source.includes(text))
}

/** Lists all test files, those first that take longest. */
export function listTests () {
  const rank = (file) => LONG.findIndex((start) => file.startsWith(start)) >>> 0
  return readdirSync(join(PROJECT, 'test'), { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => relative(PROJECT, join(PROJECT, 'test', path)))
    .sort()
    .sort((one, other) => rank(one) - rank(other))
}
