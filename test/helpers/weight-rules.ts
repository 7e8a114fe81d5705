// The rule of weight: what one person must hold, and rooms that need a folder or a reason.

import type { Sources } from './source-rules.ts'

interface Weights {
  /** The most lines of the core. */
  readonly core: number
  /** The most lines of all. */
  readonly tree: number
  /** The most lines of a room that is not part of the core. */
  readonly room: number
  /** The most lines of the rooms that have more, by name. */
  readonly heavyRooms: { readonly [room: string]: number }
}

const CORE = ['base/', 'platform/', 'catalog/compiled/', 'request/', 'edges/http/', 'ops/', 'app/']
/** What a reader of the core may leave alone: what has a door of a few files. */
const LEFT_ALONE = ['platform/modules/', 'platform/schema/repair/', 'platform/store/backends/']

function isOfCore (file: string): boolean {
  return CORE.some((path) => file.startsWith(path)) && !LEFT_ALONE.some((path) => file.startsWith(path))
}

/** The folder of a floor, or of a backend. */
const heavyRoomOf = (file: string) => /^(?:platform\/store\/)?[^/]+\/[^/]+(?=\/)/.exec(file)?.[0]

/** One line for each weight that is too large, and for each named room that needs no name. */
export function breaksOfWeight (
  sources: Sources, { core, tree, room: ordinary, heavyRooms }: Weights
): string[] {
  const lines = new Map<string, number>()
  for (const [file, text] of sources) {
    const parts = ['all files', isOfCore(file) ? 'the core' : heavyRoomOf(file)]
    for (const part of parts) {
      if (part !== undefined) lines.set(part, (lines.get(part) ?? 0) + text.split('\n').length - 1)
    }
  }
  const limits: { readonly [part: string]: number } = { 'all files': tree, 'the core': core, ...heavyRooms }
  return [
    ...[...lines].filter(([part, count]) => count > (limits[part] ?? ordinary)).map(
      ([part, count]) => `${part}: ${count} lines, of ${limits[part] ?? ordinary} at most`
    ),
    ...Object.keys(heavyRooms).filter((room) => (lines.get(room) ?? 0) <= ordinary).map(
      (room) => `${room} needs no name`
    )
  ]
}
