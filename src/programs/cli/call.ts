// The command `trivet call`: calls a tool of a folder in this process, as a test would, or of a URL.

import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { toPlain, toPlainLines } from '../../base/words.ts'
import { readConfig } from '../../ops/config/config.ts'
import { isFrame, toAuthorLines } from '../terminal/author-frames.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Progress } from '../../platform/protocol/notifications.ts'
import type { QuestionError } from '../testing/answered-rounds.ts'
import type { ExchangeListeners, RequestError } from '../testing/exchange.ts'
import type { TestAnswer } from '../testing/question.ts'
import type { CallResult } from '../testing/results.ts'
import { createPerson } from './ask-person.ts'
import {
  describeUnfitAnswer, findMisspelt, readAnswerFlags, readArguments, type KeyedAnswers
} from './call-arguments.ts'
import { toAnswerError } from './client/connection-error.ts'
import {
  assertFolder, CommandError, FAILED, isUrl, MISUSED, splitScopes, toJsonText, UsageError,
  type AddCommand, type Surroundings
} from './command.ts'
import {
  addRemoteFlags, openRemote, REMOTE_HELP, TERMINAL_CAPABILITIES, type OpenedRemote, type RemoteFlags
} from './remote.ts'

interface CallFlags extends RemoteFlags {
  readonly catalog?: string
  readonly subject?: string
  readonly scopes?: string
  readonly answer: readonly string[]
  readonly answers?: string
  readonly json?: true
}

const HELP = `
Progress and messages of the tool go to standard error. A question of the tool is asked at the terminal.
For a folder, state is in memory: a handle of one call is unknown to the next.${REMOTE_HELP}`

export const callCommand: AddCommand = (program, surroundings, finish) => {
  addFlags(program.command('call')).addHelpText('after', HELP)
    .action(async (first: string, words: readonly string[], flags: CallFlags) => {
      if (!isUrl(first)) assertFolder(first)
      const [url, tool, pairs] = isUrl(first) ? [first, words[0], words.slice(1)] : [undefined, first, words]
      if (tool === undefined) throw new UsageError(`name a tool: \`npx trivet list ${first}\` has them`)
      const answers = await readAnswerFlags(flags.answer, flags.answers)
      const { caller, close } = await open(url, flags, surroundings)
      try {
        const { tools } = await caller.list()
        const listed = tools.find(({ name }) => name === tool)
        const schema = listed?.inputSchema ?? {}
        const hasScopes = url !== undefined || flags.scopes !== undefined
        const person = surroundings.terminal === undefined
          ? undefined
          : createPerson(surroundings.terminal, (line) => surroundings.err(`${line}\n`))
        const args = readArguments(pairs, schema)
        for (const line of findMisspelt(args, schema)) surroundings.err(`${line}\n`)
        const result = await caller.call(tool, args, {
          answers, ...person !== undefined && { answer: person }
        }).catch(async (error: unknown) => {
          const failure = await toCommandError(error, flags, answers)
          throw listed === undefined && !hasScopes ? withScopeHint(failure) : failure
        })
        surroundings.out(flags.json === true ? toJsonText(result) : toText(result))
        if (result.isError) finish(FAILED)
      } catch (error) {
        const failure = await toCommandError(error, flags, answers)
        throw url === undefined ? failure : toAnswerError(url, failure)
      } finally {
        await close()
      }
    })
}

function addFlags (command: Command): Command {
  command.description('call a tool of a catalog or of a service')
    .usage('[options] [url] <tool> [key=value...]')
    .argument('<tool>', 'the name of the tool; the URL of a service may come before it')
    .argument('[key=value...]', 'its arguments; a value that is no string is JSON')
    .option('--catalog <folder>', 'the catalog; ./catalog, or TRIVET_CATALOG, by default')
    .option('--subject <name>', 'who calls; an anonymous caller by default')
    .option('--scopes <scopes>', 'the scopes of the caller, with spaces between; none by default')
    .option('--answer <key=content...>', 'the answer to a question: the content of its form as JSON, or ' +
      'accept, decline or cancel', [])
    .option('--answers <file>', 'a JSON file with answers under the keys of their questions')
    .option('--plain-host', 'call as a client without tasks and elicitation, and do what its model is told')
    .option('--json', 'print the whole result')
  return addRemoteFlags(command)
}

async function open (
  url: string | undefined, flags: CallFlags, surroundings: Surroundings
): Promise<OpenedRemote> {
  const { onText, ...printing } = createListeners(surroundings, url)
  // Only a person who plays a plain host wants to read what its model is told.
  const listeners = flags.plainHost === true ? { onText, ...printing } : printing
  if (url === undefined) return await openFolder(flags, surroundings, listeners)
  const [wrong] = (['catalog', 'subject', 'scopes'] as const).filter((name) => flags[name] !== undefined)
  if (wrong !== undefined) throw new UsageError(`--${wrong} is for a folder, and ${url} is a service`)
  return await openRemote(url, flags, surroundings, listeners)
}

/** Progress, messages and texts for the model go to standard error. */
function createListeners (
  { err, onInterrupt }: Surroundings, url: string | undefined
): Required<ExchangeListeners> {
  let reached = -Infinity
  const printed = new Set<string>()
  const onNotification = (json: string) => {
    const { method, params }: Told = JSON.parse(json)
    if (method === 'notifications/progress') {
      // A handler that runs again after an answer begins again too. The call goes on.
      if (params.progress <= reached) return
      reached = params.progress
      const { message = toNumbers(params) } = params
      printed.add(message)
    }
    err(toNotificationLine({ method, params }))
  }
  let latest = ''
  const onText = (text: string) => {
    // A call that takes long says the same again and again, with another number.
    const unnumbered = text.replace(/\.\d+"/, '"')
    if (unnumbered !== latest) err(`${toPlainLines(text)}\n`)
    latest = unnumbered
  }
  const onTask: Required<ExchangeListeners>['onTask'] = ({ taskId, status, statusMessage }) => {
    // The task of a folder ends with this process.
    if (url !== undefined) onInterrupt(toInterruptText(taskId))
    if (status === 'failed' || statusMessage === undefined || printed.has(statusMessage)) return
    // A handler that runs again has its earlier progress again.
    printed.add(statusMessage)
    err(`progress: ${toPlain(statusMessage)}\n`)
  }
  return { onNotification, onText, onTask }
}

function toInterruptText (taskId: string): string {
  const id = toPlain(taskId)
  return `\nThe task goes on: ${id}. The operator can end it: npx trivet tasks cancel ${id}\n`
}

async function openFolder (
  { catalog: path, subject, scopes = '', plainHost }: CallFlags, { environment, guard }: Surroundings,
  listeners: ExchangeListeners
): Promise<OpenedRemote> {
  const { catalog: folder, taskWaitMs } = readConfig({
    TRIVET_CATALOG: path ?? environment.TRIVET_CATALOG, TRIVET_TASK_WAIT_MS: environment.TRIVET_TASK_WAIT_MS
  })
  const { openWatchedCatalog } = await import('../testing/open-catalog.ts')
  const options = { settings: environment, ...taskWaitMs !== undefined && { taskWaitMs } }
  const catalog = await openWatchedCatalog(folder, options, { guard, ...listeners })
  const principal = { ...subject !== undefined && { subject }, scopes: splitScopes(scopes) }
  const capabilities = plainHost === true ? {} : TERMINAL_CAPABILITIES
  const caller = catalog.as(principal, { capabilities })
  return { caller, close: catalog.close }
}

/** The errors of a request, in words for somebody at a terminal. */
async function toCommandError (
  error: unknown, flags: CallFlags, answers: KeyedAnswers
): Promise<unknown> {
  const { AnswerError, QuestionError } = await import('../testing/answered-rounds.ts')
  const { RequestError } = await import('../testing/exchange.ts')
  if (error instanceof QuestionError) return toQuestionFailure(error, answers[error.question.key])
  if (error instanceof AnswerError) {
    return new UsageError(`--answer ${error.keys.join(', ')}: the tool has not asked this`)
  }
  return error instanceof RequestError ? toRequestFailure(error, flags) : error
}

/** @param answer was given, and the question is asked again. */
function toQuestionFailure (
  { question: { key, kind, message, params }, misspelt }: QuestionError, answer: TestAnswer | undefined
): CommandError {
  const example = kind === 'form' ? '{"field":"value"}' : 'accept'
  const text = `The tool asks ${JSON.stringify(key)} (${kind}): ${toPlain(message)}`
  const hint = misspelt === undefined ? '' : `The tool has not asked ${misspelt}: did you mean ${key}?\n`
  const misfit = answer === undefined ? '' : `${describeUnfitAnswer(answer, params.requestedSchema)}\n`
  return new CommandError('question', `${text}\n${hint}${misfit}` +
    `Answer it at a terminal, or with --answer '${key}=${example}' or --answers FILE`, MISUSED)
}

const NOT_LISTED = 'This caller sees no such tool. A tool with scopes needs --scopes "a b".'

/** Adds a line to an error that names no similar tool: the tool may be hidden. */
function withScopeHint (error: unknown): unknown {
  if (error instanceof Error && !error.message.includes('Did you mean')) error.message += `\n${NOT_LISTED}`
  return error
}

const NOT_AT_A_TERMINAL = 'a terminal has no model and no roots, so that the request was declined'
const NOT_IN_A_PLAIN_HOST = 'a plain host has no capabilities, and this tool does not relay its questions'

function toRequestFailure (
  { code, message: text, cause }: RequestError, { plainHost }: CallFlags
): CommandError {
  const message = toPlain(text)
  const lack = plainHost === true ? NOT_IN_A_PLAIN_HOST : NOT_AT_A_TERMINAL
  if (code === -32021) return new CommandError('request', `${message}; ${lack}`)
  return new CommandError('request', cause instanceof Error ? `${message}: ${describe(cause)}` : message)
}

/** With the line of the author that comes first in the stack. */
function describe ({ name, message, stack = '' }: Error): string {
  const frame = toAuthorLines(stack).find(isFrame) ?? ''
  const place = /^ +at (?:.*\()?(?:file:\/\/)?(\/[^)]+:\d+:\d+)\)?$/.exec(frame)?.[1]
  return `${name}: ${message}${place === undefined ? '' : ` at ${place}`}`
}

/** Structured content, and the content beside it that says more than its own text. */
function toText ({ text, content, structuredContent, isError }: CallResult): string {
  if (isError) return `The tool failed: ${text}\n`
  const parts = content.filter((block) => !(block.type === 'text' && isTextOf(structuredContent, block.text)))
  const lines = parts.map((block) => block.type === 'text' ? `${block.text}\n` : toJsonText(block))
  return `${structuredContent === undefined ? '' : toJsonText(structuredContent)}${lines.join('')}`
}

/** Services send structured content also as text, for clients that do not know it. */
function isTextOf (structuredContent: unknown, text: string): boolean {
  if (structuredContent === undefined) return false
  try {
    return isDeepStrictEqual(JSON.parse(text), structuredContent)
  } catch {
    return false
  }
}

/** A notification of progress, or a message for the log: what the tool reports while it runs. */
interface Told { readonly method: string, readonly params: Progress & MessageParams }

function toNotificationLine ({ method, params }: Told): string {
  return `${toPlain(method === 'notifications/progress' ? toProgressText(params) : toMessageText(params))}\n`
}

interface MessageParams { readonly level: unknown, readonly data: unknown }

function toProgressText ({ progress, total, message }: Progress): string {
  const part = toNumbers({ progress, total })
  return message === undefined ? `progress ${part}` : `progress ${part}: ${message}`
}

function toNumbers ({ progress, total }: Pick<Progress, 'progress'> & { readonly total?: unknown }): string {
  return total === undefined ? `${progress}` : `${progress} of ${String(total)}`
}

/** A message with data is an object with its text under `message`. */
function toMessageText ({ level, data }: MessageParams): string {
  if (!isObject(data)) return `${String(level)}: ${typeof data === 'string' ? data : JSON.stringify(data)}`
  const { message, ...members } = data
  const json = Object.keys(members).length === 0 ? '' : JSON.stringify(members)
  return [`${String(level)}:`, message, json].filter((part) => part !== undefined && part !== '').join(' ')
}
