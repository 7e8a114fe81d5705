// The commands that serve a catalog until a signal ends the process: `serve`, and `dev` for its author.

import { FOLDER, type CommandModule, type Surroundings } from './command.ts'
import { SETTING_FLAGS, spellWith, withFlags } from './setting-flags.ts'

interface ServingCommand {
  readonly name: string
  readonly description: string
  /** Variables that count where neither the environment nor a flag has them. */
  readonly defaults: Surroundings['environment']
  readonly isForPeople: boolean
}

const HELP = `
Each flag is also a variable: --max-body-bytes is TRIVET_MAX_BODY_BYTES. A flag comes first.
Secrets are variables only: TRIVET_SECRETS and others.`

export const serveCommand = servingCommand({
  name: 'serve',
  description: 'serve a catalog until a signal ends the process',
  defaults: {},
  isForPeople: false
})

/** State in memory: nothing is left behind in the folder of the author. */
export const devCommand = servingCommand({
  name: 'dev',
  description: 'serve a catalog to its author: with a log for people, and state in memory',
  defaults: { TRIVET_STATE_URL: 'memory:' },
  isForPeople: true
})

function servingCommand ({ name, description, defaults, isForPeople }: ServingCommand): CommandModule {
  return {
    add (program, { environment, serve }) {
      const command = program.command(name).description(description).argument(...FOLDER)
        .addHelpText('after', HELP)
      for (const option of SETTING_FLAGS) command.addOption(option)
      command.action(async (folder: string | undefined, flags: { readonly [name: string]: string }) => {
        const values = { ...flags, ...(folder !== undefined && { catalog: folder }) }
        const variables = withFlags({ ...defaults, ...environment }, values)
        await serve(variables, { spell: spellWith(flags), isForPeople })
      })
    }
  }
}
