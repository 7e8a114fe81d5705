// The rules between rooms, as functions of source texts. Each returns one line for each violation.

import { posix } from 'node:path'

/** Source texts by their path below src/, such as `edges/http/guards.ts`. */
export type Sources = ReadonlyMap<string, string>

export interface Import {
  readonly file: string
  /** The path below src/ of a file of the project, or the specifier of any other module. */
  readonly target: string
  readonly isOurs: boolean
  /** Whether the import has only types, which do not exist at run time. */
  readonly isType: boolean
  readonly isDynamic: boolean
}

const STATIC = /^(?:import|export)(\s+type)?(?:\s+[\w\s{},*$]*?\sfrom)?\s+'([^']+)'/gm
const DYNAMIC = /\bimport\('([^']+)'\)/g
const EXPORT = /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm
const TYPE = /^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm
const RE_EXPORT = /^export\s+(?:type\s+)?(?:\*|\{[^}]*\})[\w\s]*\sfrom\s+'/m

export function readImports (sources: Sources): Import[] {
  return [...sources].flatMap(([file, text]) => {
    const code = withoutComments(text)
    const toImport = (specifier: string, isType: boolean, isDynamic: boolean): Import => {
      const isOurs = specifier.startsWith('.')
      return {
        file,
        target: isOurs ? posix.join(posix.dirname(file), specifier) : specifier,
        isOurs,
        isType,
        isDynamic
      }
    }
    return [
      ...[...code.matchAll(STATIC)].map(
        ([, type, specifier = '']) => toImport(specifier, type !== undefined, false)
      ),
      ...[...code.matchAll(DYNAMIC)].map(([, specifier = '']) => toImport(specifier, false, true))
    ]
  })
}

function withoutComments (text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(?<![:'"`\\])\/\/.*$/gm, '')
}

/** The rooms whose folders are rooms of their own. */
const SPLIT = ['edges/legacy', 'features/tasks', 'platform/store']

/** Returns the room of a file: a folder of its floor, or the floor if it has no folders. */
function roomOf (file: string): string {
  const [floor = '', room, part] = file.split('/')
  if (part === undefined) return floor
  return SPLIT.includes(`${floor}/${room}`) ? `${floor}/${room}/${part}` : `${floor}/${room}`
}

const floorOf = (file: string) => file.split('/')[0] ?? ''
const isLate = (target: string, isDynamic: boolean) => isDynamic && target === 'index.ts'
const toLine = ({ file, target }: Import) => `${file} imports ${target}`

/**
 * Files that are on no floor, and imports of a floor above. A late one may be of index.ts, which is what
 * catalogs import.
 * @param floors from the leaves up. A list has several on one height.
 */
export function breaksOfFloors (
  sources: Sources, floors: ReadonlyArray<string | readonly string[]>
): string[] {
  const heightOf = (file: string) => floors.findIndex((floor) => [floor].flat().includes(floorOf(file)))
  const unknown = new Set([...sources.keys()].filter((file) => heightOf(file) < 0).map(floorOf))
  return [
    ...[...unknown].map((floor) => `${floor} is no floor`),
    ...readImports(sources).filter(({ file, target, isOurs, isDynamic }) => (
      isOurs && heightOf(target) > heightOf(file) && heightOf(file) >= 0 && !isLate(target, isDynamic)
    )).map(toLine)
  ]
}

export interface Permissions { readonly [room: string]: readonly string[] }

/**
 * Imports of another room of the same floor.
 * @param allowed the rooms of its floor that each room may import. A room that is not listed may not exist.
 */
export function breaksOfRooms (sources: Sources, allowed: Permissions): string[] {
  const unknown = [...new Set([...sources.keys()].map(roomOf))].filter(
    (room) => room.includes('/') && !Object.hasOwn(allowed, room)
  ).map((room) => `${room} is not listed`)
  const wrong = readImports(sources).filter(({ file, target, isOurs }) => {
    const [from, to] = [roomOf(file), roomOf(target)]
    const isNext = floorOf(file) === floorOf(target)
    return isOurs && from !== to && isNext && !(allowed[from] ?? []).includes(to)
  })
  return [...unknown, ...wrong.map(toLine)]
}

/** Imports from files that the first pattern names of files that the second one names. */
export function breaksOfSecrets (sources: Sources, from: RegExp, of: RegExp): string[] {
  return readImports(sources).filter(
    ({ file, target, isOurs }) => isOurs && from.test(file) && of.test(target)
  ).map(toLine)
}

/** Rooms that may be imported by a room that does not import them: each could close a circle one day. */
export function breaksOfPermissions (sources: Sources, allowed: Permissions): string[] {
  const used = new Set(readImports(sources).map(({ file, target }) => `${roomOf(file)} ${roomOf(target)}`))
  return Object.entries(allowed).flatMap(([room, targets]) =>
    targets.filter((target) => !used.has(`${room} ${target}`)).map(
      (target) => `${room} does not import ${target}`
    ))
}

/** Imports between the files of one room, where only the named file may import the others. */
export function breaksOfStrangers (sources: Sources, room: string, except: RegExp): string[] {
  return readImports(sources)
    .filter(
      ({ file, target, isOurs }) => isOurs && roomOf(file) === room && roomOf(target) === room &&
        !except.test(file)
    ).map(toLine)
}

const ofEarlierEras = (file: string) => file.startsWith('edges/legacy/')

/** Imports of files that can be deleted together. Only the one line that joins them may import them. */
export function breaksOfEras (sources: Sources): string[] {
  return readImports(sources).filter(
    ({ file, target, isOurs }) => isOurs && ofEarlierEras(target) && !ofEarlierEras(file) &&
      !(file === 'app/app.ts' && target === 'edges/legacy/open.ts')
  ).map(toLine)
}

/**
 * Files of the modern wire without a file of the same name in the legacy wire, which may have more files.
 */
export function breaksOfWires (sources: Sources): string[] {
  return [...sources.keys()].filter(
    (file) => file.startsWith('edges/http/modern/') &&
      !sources.has(file.replace('edges/http/modern/', 'edges/legacy/http/'))
  ).map((file) => `${file} has no counterpart in edges/legacy/http/`)
}

/**
 * Files that import a package which they may not.
 * @param mayImport is called for every import of a package that the pattern names
 */
export function breaksOfPackage (
  sources: Sources, pattern: RegExp, mayImport: (one: Import) => boolean
): string[] {
  return readImports(sources).filter(
    (one) => !one.isOurs && pattern.test(one.target) && !mayImport(one)
  ).map(toLine)
}

/** The folder of one backend. */
const backendOf = (file: string) => /^platform\/store\/backends\/([^/]+)\//.exec(file)?.[1]

/**
 * Files that import a backend and may not. @param mayImport told of every import of a backend from outside
 * its folder.
 */
export function breaksOfBackends (sources: Sources, mayImport: (one: Import) => boolean): string[] {
  const fromOutside = ({ file, target, isOurs }: Import) => isOurs && backendOf(target) !== undefined &&
    backendOf(target) !== backendOf(file)
  return readImports(sources).filter((one) => fromOutside(one) && !mayImport(one)).map(toLine)
}

/** Files that refer to the process. */
export function breaksOfProcess (sources: Sources): string[] {
  return [...sources].filter(([file, text]) => {
    const code = withoutComments(text)
    return file !== 'main.ts' && file !== 'launch.ts' && !file.startsWith('programs/process/') &&
      (/\bprocess\b/.test(code.replaceAll(/'[^'\n]*'/g, '')) || code.includes("'node:process'"))
  }).map(([file]) => `${file} touches process`)
}

const TIME = new RegExp([
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b/,
  /(?<![.\w])(?:set|clear)(?:Timeout|Interval)\(|\bAbortSignal\.timeout\b|\bset(?:Timeout|Interval) as\b/,
  /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync)\b|\bgetRandomValues\b/
].map(({ source }) => source).join('|'))

/** Files that read a clock, start a timer or make a random number by themselves. */
export function breaksOfTime (sources: Sources, mayTakeTime: (file: string) => boolean): string[] {
  return [...sources].filter(([file, text]) => !mayTakeTime(file) && TIME.test(withoutComments(text))).map(
    ([file]) => `${file} has a time of its own`
  )
}

/**
 * Import cycles, each once. An import that happens late may close one where it is of index.ts, which is what
 * catalogs import.
 */
export function breaksOfCycles (sources: Sources): string[] {
  const edges = new Map<string, string[]>()
  for (const { file, target, isOurs, isDynamic } of readImports(sources)) {
    if (isOurs && !isLate(target, isDynamic)) edges.set(file, [...edges.get(file) ?? [], target])
  }
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file)) return
    done.add(file)
    for (const target of edges.get(file) ?? []) visit(target, [...path, file])
  }
  for (const file of sources.keys()) visit(file, [])
  return cycles
}

export function breaksOfSize (sources: Sources, maxLines: number): string[] {
  return [...sources].map(([file, text]) => ({ file, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > maxLines).map(({ file, lines }) => `${file} has ${lines} lines`)
}

/** Folders with more files directly in them than a reader can hold. */
export function breaksOfCrowds (sources: Sources, maxFiles: number): string[] {
  const counts = new Map<string, number>()
  for (const folder of [...sources.keys()].map((file) => posix.dirname(file))) {
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > maxFiles).map(
    ([folder, count]) => `${folder} has ${count} files`
  )
}

/** Files of under 15 lines that belong to the one file that imports them. */
export function breaksOfSmallFiles (sources: Sources, mayStandAlone: (file: string) => boolean): string[] {
  const importers = new Map<string, Set<string>>()
  for (const { file, target } of readImports(sources)) {
    importers.set(target, (importers.get(target) ?? new Set()).add(file))
  }
  return [...sources].flatMap(([file, text]) => {
    const [only, ...others] = importers.get(file) ?? []
    const isSmall = text.trimEnd().split('\n').length < 15
    return isSmall && only !== undefined && others.length === 0 && !mayStandAlone(file)
      ? [`${file} belongs to ${only}`]
      : []
  })
}

/** Types that several files declare, also if they do not export them. */
export function breaksOfTypeNames (sources: Sources): string[] {
  const files = new Map<string, string[]>()
  for (const [file, text] of sources) {
    for (const [, name = ''] of withoutComments(text).matchAll(TYPE)) {
      files.set(name, [...files.get(name) ?? [], file])
    }
  }
  return [...files].filter(([, of]) => of.length > 1).map(([name, of]) => `${name} is of ${of.join(', ')}`)
}

/** Names that several files export: one name would mean several things. */
export function breaksOfNames (sources: Sources): string[] {
  const files = new Map<string, Set<string>>()
  for (const [file, text] of sources) {
    for (const [, name = ''] of withoutComments(text).matchAll(EXPORT)) {
      files.set(name, (files.get(name) ?? new Set()).add(file))
    }
  }
  return [...files].filter(([, { size }]) => size > 1).map(
    ([name, of]) => `${name} is of ${[...of].join(', ')}`
  )
}

/** What users import: 'trivet' and 'trivet/testing'. */
const PUBLIC = ['index.ts', 'testing.ts']

/** Files that pass on what others export. */
export function breaksOfBarrels (sources: Sources): string[] {
  return [...sources].filter(
    ([file, text]) => !PUBLIC.includes(file) && RE_EXPORT.test(withoutComments(text))
  ).map(([file]) => `${file} passes on what others export`)
}
