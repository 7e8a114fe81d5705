// The command `trivet state`: what an operator does for the store of the state.

import { Argument } from 'commander'
import { messageOf } from '../../base/words.ts'
import { writeSchema } from '../../platform/store/backends/url-schemes.ts'
import { CommandError, UsageError, type AddCommand } from './command.ts'

interface StateFlags {
  readonly prefix?: string
  readonly role?: string
}

const HELP = `
schema prints the SQL of the schema that the service uses in PostgreSQL. The service makes it by itself if its
role may create schemas in the database. If not, an owner of the database applies it, before each release that
changes it:

  npx trivet state schema --role trivet | psql --set ON_ERROR_STOP=1 postgres://owner@host/database

It may be applied again, and keeps what is there.`

export const stateCommand: AddCommand = (program, { environment, out }) => {
  program.command('state')
    .description('print the schema that the service uses in PostgreSQL')
    .addArgument(new Argument('<action>').choices(['schema']))
    .option('--prefix <name>', 'the schema; TRIVET_STATE_PREFIX, or trivet, by default')
    .option('--role <name>', 'the role of the service, which gets the rights that it needs')
    .addHelpText('after', HELP)
    .action(async (_action: string, flags: StateFlags) => {
      const { prefix = environment.TRIVET_STATE_PREFIX ?? 'trivet', role } = flags
      if (!/^[\w.-]{1,64}$/.test(prefix)) {
        throw new UsageError('the prefix must have 1 to 64 letters, digits, -, _ or .')
      }
      if (role === '') throw new UsageError('--role must not be empty')
      out(await writeSchema(prefix, role).catch((error: unknown) => {
        throw new CommandError('settings', messageOf(error))
      }))
    })
}
