// The command `trivet diff`: what changed between two catalogs, and what of it breaks clients.

import { counted } from '../../base/words.ts'
import { findDefinitionLine } from '../../catalog/compiled/problem.ts'
import { findChanges, type OfferChange } from '../../catalog/contracts/changes.ts'
import { FAILED, toJsonText, type AddCommand, type Surroundings } from './command.ts'
import { findCatalog, openCompared, type ComparedCatalog } from './named-catalog.ts'
import { addRemoteFlags, REMOTE_HELP, type RemoteFlags } from './remote.ts'

interface DiffFlags extends RemoteFlags { readonly json?: true }

/** The line of the definition, if its file says it. */
interface PlacedChange extends OfferChange { readonly line?: number }

const HELP = `
OLD and NEW are folders, URLs of services, or revisions of git, such as HEAD~1 or v1.2:catalog. A folder of
that name comes first. A revision alone has the folder of TRIVET_CATALOG, ./catalog by default.
The exit code is 1 if a change breaks clients.${REMOTE_HELP}`

export const diffCommand: AddCommand = (program, surroundings, finish) => {
  const command = program.command('diff')
    .description('compare two catalogs, and say what breaks clients')
    .argument('[old]', 'the catalog that clients know; the last commit by default', 'HEAD')
    .argument('[new]', 'the catalog that takes its place; ./catalog, or TRIVET_CATALOG, by default')
    .option('--json', 'print the changes as JSON')
  addRemoteFlags(command).addHelpText('after', HELP)
    .action(async (old: string, next: string | undefined, flags: DiffFlags) => {
      const folder = next ?? findCatalog(undefined, surroundings)
      const changes = await compare(old, folder, flags, surroundings)
      surroundings.out(flags.json === true ? toJsonText({ changes }) : toText(changes))
      if (changes.some(({ isBreaking }) => isBreaking)) finish(FAILED)
    })
}

async function compare (
  old: string, next: string, flags: RemoteFlags, surroundings: Surroundings
): Promise<PlacedChange[]> {
  const sides: ComparedCatalog[] = []
  try {
    const before = await openCompared(old, flags, surroundings)
    sides.push(before)
    const after = await openCompared(next, flags, surroundings)
    sides.push(after)
    const changes = findChanges(before.offered, after.offered)
    return await Promise.all(changes.map(
      async (change) => await toPlaced(change, change.from === 'old' ? before : after)
    ))
  } finally {
    for (const { close } of sides) await close()
  }
}

async function toPlaced (change: OfferChange, { read }: ComparedCatalog): Promise<PlacedChange> {
  const text = await read(change.file)
  const line = text === undefined ? undefined : findDefinitionLine(text, change.key)
  return line === undefined ? change : { ...change, line }
}

function toText (changes: readonly PlacedChange[]): string {
  const lines = changes.toSorted((a, b) => Number(b.isBreaking) - Number(a.isBreaking)).map(
    ({ isBreaking, kind, key, file, line, rule }) => {
      const place = line === undefined ? file : `${file}:${line}`
      return `${isBreaking ? 'breaks' : 'fine  '} ${place}: ${kind} ${key} ${rule}`
    }
  )
  const breaking = changes.filter(({ isBreaking }) => isBreaking).length
  const summary = `${breaking} of them ${breaking === 1 ? 'breaks' : 'break'} clients`
  return [...lines, `${counted(changes.length, 'change')}, ${summary}`, ''].join('\n')
}
