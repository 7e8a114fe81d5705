// The command `trivet dev`: serves a catalog to its author, with a log for people.

import type { CommandModule } from './command.ts'
import { SETTING_FLAGS, spellWith, withFlags } from './setting-flags.ts'

/** State in memory: nothing is left behind in the folder of the author. */
const DEFAULTS = { TRIVET_STATE_URL: 'memory:' }

export const devCommand: CommandModule = {
  add (program, { environment, serve }) {
    const command = program.command('dev')
      .description('serve a catalog to its author: with a log for people, and state in memory')
      .argument('[folder]', 'the catalog; ./catalog, or TRIVET_CATALOG, by default')
    for (const option of SETTING_FLAGS) command.addOption(option)
    command.action(async (folder: string | undefined, flags: { readonly [name: string]: string }) => {
      const given = { ...flags, ...(folder !== undefined && { catalog: folder }) }
      const variables = withFlags({ ...DEFAULTS, ...environment }, given)
      await serve(variables, { spell: spellWith(flags), isForPeople: true })
    })
  }
}
