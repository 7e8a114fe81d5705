// The command `trivet call`: calls a tool of a catalog in this process, as a test would.

import type { CallResult } from '../testing/test-results.ts'
import type { TestAnswer } from '../testing/test-question.ts'
import { readConfig } from '../config.ts'
import { FAILED, UsageError, type CommandModule } from './command.ts'
import { readArguments, readPairs } from './call-arguments.ts'

interface CallFlags {
  readonly catalog?: string
  readonly subject?: string
  readonly scopes?: string
  readonly answer: readonly string[]
  readonly json?: true
}

export const callCommand: CommandModule = {
  add (program, { environment, out, err }, finish) {
    program.command('call')
      .description('call a tool of a catalog, without serving it')
      .argument('<tool>', 'the name of the tool')
      .argument('[key=value...]', 'its arguments; a value that is no string is JSON')
      .option('--catalog <folder>', 'the catalog; ./catalog, or TRIVET_CATALOG, by default')
      .option('--subject <name>', 'who calls; an anonymous caller by default')
      .option('--scopes <scopes>', 'the scopes of the caller, with spaces between; none by default')
      .option('--answer <key=content...>', 'the answer to a question: the content of its form, as JSON', [])
      .option('--json', 'print the whole result')
      .addHelpText('after', '\nState is in memory, so a handle of one call is unknown to the next.')
      .action(async (tool: string, pairs: readonly string[], flags: CallFlags) => {
        const written = flags.catalog ?? environment.TRIVET_CATALOG
        const { catalog: folder } = readConfig({ TRIVET_CATALOG: written })
        const { openCatalog, QuestionError, RequestError } = await import('../testing.ts')
        const catalog = await openCatalog(folder, { settings: environment })
        try {
          const caller = catalog.as({
            ...flags.subject !== undefined && { subject: flags.subject },
            scopes: (flags.scopes ?? '').split(/[\s,]+/).filter((scope) => scope !== '')
          })
          const { tools } = await caller.list()
          const schema = tools.find(({ name }) => name === tool)?.inputSchema ?? {}
          const result = await caller.call(
            tool, readArguments(pairs, schema), { answers: readAnswers(flags.answer) }
          )
          out(flags.json === true ? `${JSON.stringify(result, undefined, 2)}\n` : toText(result))
          if (result.isError) finish(FAILED)
        } catch (error) {
          if (!(error instanceof QuestionError || error instanceof RequestError)) throw error
          err(`${error instanceof QuestionError ? describe(error.question) : error.message}\n`)
          finish(FAILED)
        } finally {
          await catalog.close()
        }
      })
  }
}

function readAnswers (written: readonly string[]): { readonly [key: string]: TestAnswer } {
  const answers = readPairs(written, '--answer').map(([key, text]) => {
    try {
      return [key, { action: 'accept', content: JSON.parse(text) }] as const
    } catch {
      throw new UsageError(`--answer ${key} must have JSON, got ${JSON.stringify(text)}`)
    }
  })
  return Object.fromEntries(answers)
}

/** The progress and the messages come first, as they came. */
function toText ({ progress, logs, text, structuredContent, isError }: CallResult): string {
  const reported = [
    ...progress.map(toProgressText),
    ...logs.map(({ level, message, data }) => (
      `${level}: ${message}${data === undefined ? '' : ` ${JSON.stringify(data)}`}`
    ))
  ]
  const result = structuredContent === undefined ? text : JSON.stringify(structuredContent, undefined, 2)
  return [...reported, isError ? `The tool failed: ${text}` : result, ''].join('\n')
}

function toProgressText ({ progress, total, message }: CallResult['progress'][number]): string {
  const part = total === undefined ? `${progress}` : `${progress} of ${total}`
  return message === undefined ? `progress ${part}` : `progress ${part}: ${message}`
}

function describe ({ key, kind, message }: { key: string, kind: string, message: string }): string {
  const how = `Answer a form with --answer '${key}={"field":"value"}'`
  return `The tool asks ${JSON.stringify(key)} (${kind}): ${message}\n${how}`
}
