// The pictures of docs/architecture.md, made from the sources: which part imports which, and the phases of a
// task. `npm run pictures` writes them.

import type { TransitionRow } from '../../src/features/tasks/machine/transition-row.ts'
import { readImports, type Sources } from '../helpers/source-rules.ts'

/** The parts of the picture, from the composition to the leaves, with their folders and files. */
const PARTS: { readonly [part: string]: readonly string[] } = {
  composition: ['programs/', 'app/', 'index.ts', 'main.ts', 'launch.ts', 'testing.ts'],
  admin: ['edges/admin/'],
  console: ['edges/console/'],
  desk: ['edges/desk/'],
  http: ['edges/http/'],
  legacy: ['edges/legacy/'],
  links: ['edges/files/'],
  signing: ['edges/sign-in/'],
  ops: ['ops/'],
  tasks: ['features/tasks/'],
  files: ['features/files/'],
  signIn: ['features/sign-in/'],
  upstreams: ['features/upstreams/'],
  audit: ['features/audit/'],
  metrics: ['features/metrics/'],
  overload: ['features/overload/'],
  remainders: ['features/remainders/'],
  tracing: ['features/tracing/'],
  request: ['request/'],
  catalog: ['catalog/'],
  modules: ['platform/modules/'],
  store: ['platform/store/'],
  author: ['platform/author/'],
  limits: ['platform/limits/'],
  schema: ['platform/schema/'],
  protocol: ['platform/protocol/'],
  access: ['platform/access/']
}

/** Every file may import it: its edges would hide the others. */
const LEAVES = 'base/'

function partOf (file: string): string | undefined {
  if (file.startsWith(LEAVES)) return undefined
  const [part] = Object.entries(PARTS).find(([, paths]) => paths.some((path) => file.startsWith(path))) ?? []
  if (part === undefined) throw new Error(`${file} is in no part of the picture: add it to PARTS`)
  return part
}

/** Draws which part imports which. An edge that other edges imply is left out. */
export function toPartsPicture (sources: Sources): string {
  const targets = new Map(Object.keys(PARTS).map((part) => [part, new Set<string>()]))
  for (const { file, target, isOurs } of readImports(sources)) {
    if (!isOurs) continue
    const [from, to] = [partOf(file), partOf(target)]
    // The composition imports all.
    if (from === undefined || to === undefined || from === to || from === 'composition') continue
    targets.get(from)?.add(to)
  }
  const reached = (from: string, without?: string): Set<string> => {
    const seen = new Set<string>()
    const visit = (part: string): void => {
      for (const next of targets.get(part) ?? []) {
        if (seen.has(next) || (part === from && next === without)) continue
        seen.add(next)
        visit(next)
      }
    }
    visit(from)
    return seen
  }
  const circles = [...targets.keys()].filter((part) => reached(part).has(part))
  if (circles.length > 0) throw new Error(`parts import each other: ${circles.join(', ')}`)
  const edges = [...targets].flatMap(([from, next]) => [...next].toSorted().filter(
    (to) => !reached(from, to).has(to)
  ).map((to) => `  ${from} --> ${to}`))
  const imported = new Set([...targets.values()].flatMap((next) => [...next]))
  const tops = Object.keys(PARTS).filter((part) => part !== 'composition' && !imported.has(part))
  return ['flowchart TD', ...tops.map((part) => `  composition --> ${part}`), ...edges, ''].join('\n')
}

/** Draws the phases of a task, with one edge for all rows of the table between two of them. */
export function toPhasesPicture (table: readonly TransitionRow[]): string {
  const events = new Map<string, Set<string>>()
  for (const { from, on, to } of table) {
    for (const phase of from) {
      if (phase === to) continue
      const edge = `${phase} --> ${to}`
      events.set(edge, (events.get(edge) ?? new Set()).add(on))
    }
  }
  const edges = [...events].map(([edge, names]) => `  ${edge} : ${[...names].toSorted().join(', ')}`)
  return ['stateDiagram-v2', '  [*] --> running', ...edges, '  over --> [*]', ''].join('\n')
}
