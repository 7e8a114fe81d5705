// The command `trivet diff`: what changed between two catalogs, and what of it breaks clients.

import { findChanges, type Change } from '../contracts/changes.ts'
import { FAILED, type CommandModule } from './command.ts'
import { loadCatalog } from './loaded-catalog.ts'

export const diffCommand: CommandModule = {
  add (program, surroundings, finish) {
    program.command('diff')
      .description('compare two catalogs, and say what breaks clients')
      .argument('<old>', 'the folder of the catalog that clients know')
      .argument('<new>', 'the folder of the catalog that takes its place')
      .option('--json', 'print the changes as JSON')
      .addHelpText('after', '\nThe exit code is 1 if a change breaks clients.')
      .action(async (old: string, next: string, { json }: { readonly json?: true }) => {
        const before = await loadCatalog(old, surroundings)
        const changes = findChanges(before, await loadCatalog(next, surroundings))
        surroundings.out(json === true ? `${JSON.stringify({ changes }, undefined, 2)}\n` : toText(changes))
        if (changes.some(({ isBreaking }) => isBreaking)) finish(FAILED)
      })
  }
}

function toText (changes: readonly Change[]): string {
  const lines = changes.toSorted((a, b) => Number(b.isBreaking) - Number(a.isBreaking)).map(
    ({ isBreaking, subject, file, rule }) => `${isBreaking ? 'breaks' : 'fine  '} ${file}: ${subject} ${rule}`
  )
  const breaking = changes.filter(({ isBreaking }) => isBreaking).length
  return [...lines, `${changes.length} changes, ${breaking} of them break clients`, ''].join('\n')
}
