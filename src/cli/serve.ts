// The command `trivet serve`: serves a catalog until a signal ends it.

import type { CommandModule } from './command.ts'
import { SETTING_FLAGS, spellWith, withFlags } from './setting-flags.ts'

export const serveCommand: CommandModule = {
  add (program, { environment, serve }) {
    const command = program.command('serve')
      .description('serve a catalog until a signal ends the process')
      .argument('[folder]', 'the catalog; ./catalog, or TRIVET_CATALOG, by default')
      .addHelpText('after', '\nEach flag is also a variable: --max-body-bytes is TRIVET_MAX_BODY_BYTES. ' +
        'A flag comes first.\nSecrets are variables only: TRIVET_SECRETS and others.')
    for (const option of SETTING_FLAGS) command.addOption(option)
    command.action(async (folder: string | undefined, flags: { readonly [name: string]: string }) => {
      const given = { ...flags, ...(folder !== undefined && { catalog: folder }) }
      await serve(withFlags(environment, given), { spell: spellWith(flags), isForPeople: false })
    })
  }
}
