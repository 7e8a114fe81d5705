// The pictures of docs/architecture.md, made from the sources: which floor imports which, and the phases of a
// task. `npm run pictures` writes them.

import type { TransitionRow } from '../../src/features/tasks/table/transition-row.ts'
import { readImports, type Sources } from '../helpers/source-rules.ts'

/** The floors of the picture, from the composition to the leaves, with their rooms. */
const FLOORS: { readonly [floor: string]: readonly string[] } = {
  composition: [
    'app', 'app/app.ts', 'index.ts', 'main.ts', 'launch.ts', 'process', 'cli', 'testing', 'testing.ts'
  ],
  console: ['console'],
  http: ['http'],
  legacy: ['legacy'],
  request: ['request'],
  tasks: ['tasks'],
  files: ['files'],
  upstreams: ['upstreams'],
  catalog: ['catalog'],
  store: ['store'],
  ops: ['ops'],
  author: ['author'],
  limits: ['limits'],
  schema: ['schema'],
  protocol: ['protocol'],
  access: ['access']
}

/** Every room may import it: its edges would hide the others. */
const LEAVES = 'base'

function floorOf (file: string): string | undefined {
  const [room = ''] = file.split('/')
  if (room === LEAVES) return undefined
  const [floor] = Object.entries(FLOORS).find(([, rooms]) => rooms.includes(room)) ?? []
  if (floor === undefined) throw new Error(`${room} is on no floor of the picture: add it to FLOORS`)
  return floor
}

/** Draws which floor imports which. An edge that other edges imply is left out. */
export function toFloorsPicture (sources: Sources): string {
  const targets = new Map(Object.keys(FLOORS).map((floor) => [floor, new Set<string>()]))
  for (const { file, target, isOurs } of readImports(sources)) {
    if (!isOurs) continue
    const [from, to] = [floorOf(file), floorOf(target)]
    // The composition imports all.
    if (from === undefined || to === undefined || from === to || from === 'composition') continue
    targets.get(from)?.add(to)
  }
  const reached = (from: string, without?: string): Set<string> => {
    const seen = new Set<string>()
    const visit = (floor: string): void => {
      for (const next of targets.get(floor) ?? []) {
        if (seen.has(next) || (floor === from && next === without)) continue
        seen.add(next)
        visit(next)
      }
    }
    visit(from)
    return seen
  }
  const circles = [...targets.keys()].filter((floor) => reached(floor).has(floor))
  if (circles.length > 0) throw new Error(`floors import each other: ${circles.join(', ')}`)
  const edges = [...targets].flatMap(([from, next]) => [...next].toSorted().filter(
    (to) => !reached(from, to).has(to)
  ).map((to) => `  ${from} --> ${to}`))
  const imported = new Set([...targets.values()].flatMap((next) => [...next]))
  const tops = Object.keys(FLOORS).filter((floor) => floor !== 'composition' && !imported.has(floor))
  return ['flowchart TD', ...tops.map((floor) => `  composition --> ${floor}`), ...edges, ''].join('\n')
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
