// A service at a URL, for commands that take a folder or a URL.

import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { timers } from '../../base/time.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { TASKS_CAPABILITY } from '../../platform/protocol/tasks.ts'
import type { TestCaller } from '../testing/catalog.ts'
import type { ExchangeListeners } from '../testing/exchange.ts'
import { toAnswerError } from './client/connection-error.ts'
import type { ClientFacts } from './client/remote-service.ts'
import { UsageError, type Surroundings } from './command.ts'

export interface RemoteFlags {
  readonly token?: string
  readonly tokenFile?: string
  readonly header: readonly string[]
  readonly plainHost?: true
}

/** The help of commands that take a URL. */
export const REMOTE_HELP = '\nFor a URL, the access token may also be in the variable TRIVET_TOKEN.'

/** Elicitation only: nobody at a terminal has a model, or roots. */
export const TERMINAL_CAPABILITIES = { elicitation: { form: {}, url: {} } }

/** A service at a URL may answer with a task, which is followed to its end. */
const REMOTE_CAPABILITIES = { ...TERMINAL_CAPABILITIES, ...TASKS_CAPABILITY }

/** A service takes a `cancel` that comes sooner for that of a host which has nobody. */
const READING_MS = 1100

export function addRemoteFlags (command: Command): Command {
  return command
    .option('--token <token>', 'the access token for a URL; other users of this machine can see it')
    .option('--token-file <file>', 'a file with the access token')
    .option('--header <name: value...>', 'a header for each request to a URL', [])
}

export interface OpenedRemote {
  readonly caller: TestCaller
  close (): Promise<void>
}

/** Rejects with a ConnectionError. */
export async function openRemote (
  url: string, flags: RemoteFlags, { environment, version }: Surroundings,
  { onNotification = () => {}, onText = () => {}, onTask = () => {} }: ExchangeListeners = {}
): Promise<OpenedRemote> {
  if (!URL.canParse(url)) throw new UsageError(`${url} is no URL`)
  const { openService } = await import('./client/open-service.ts')
  const { CatalogCaller } = await import('../testing/catalog-caller.ts')
  const capabilities = flags.plainHost === true ? {} : REMOTE_CAPABILITIES
  const client: ClientFacts = { info: { name: 'trivet', version }, capabilities }
  const headers = await readHeaders(flags, environment)
  const service = await openService({ url, headers }, client).catch((error: unknown) => {
    throw toAnswerError(url, error)
  })
  const caller = new CatalogCaller({
    isRemote: true,
    onText,
    onTask,
    async send (request, _sender, report) {
      if (cancelsQuestion(request.params)) await timers.pause(READING_MS)
      return await service.send(request, (json) => {
        report.addNotification(json)
        onNotification(json)
      })
    },
    async upload () {
      throw new UsageError('A file is uploaded with the page that the question names.')
    },
    // Another process makes them.
    async settleLists () {},
    close () {}
  })
  return { caller, close: service.close }
}

function cancelsQuestion (params: object): boolean {
  if (!('inputResponses' in params) || !isObject(params.inputResponses)) return false
  return Object.values(params.inputResponses).some((answer) => isObject(answer) && answer.action === 'cancel')
}

async function readHeaders (
  { token, tokenFile, header }: RemoteFlags, environment: Surroundings['environment']
): Promise<{ readonly [name: string]: string }> {
  const secret = token ?? (tokenFile === undefined ? environment.TRIVET_TOKEN : await readToken(tokenFile))
  const headers = new Headers(header.map(readHeader))
  if (secret !== undefined && secret !== '') setToken(headers, secret)
  return Object.fromEntries(headers)
}

async function readToken (file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`--token-file ${file} cannot be read: ${error.message}`)
  })
  return text.trim()
}

/** An error must not show the token. */
function setToken (headers: Headers, token: string): void {
  if (!/^[\w.~+/-]+=*$/.test(token)) throw new UsageError('the access token has characters that no token may have')
  headers.set('authorization', `Bearer ${token}`)
}

/** An error shows the name only: the value may be a secret. */
function readHeader (text: string): [name: string, value: string] {
  const [name = '', ...values] = text.split(':')
  const value = values.join(':').trim()
  if (values.length === 0 || !isHeader(name, value)) {
    throw new UsageError(`--header must have the form "Name: value", got ${JSON.stringify(name)} as the name`)
  }
  return [name, value]
}

function isHeader (name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name)
  } catch {
    return false
  }
}
