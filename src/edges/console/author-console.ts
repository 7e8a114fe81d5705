// The console of `trivet dev`: what its page asks of the service beside the endpoint.

import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { StartError } from '../../base/lifecycle.ts'
import { toWellFormedJson } from '../../base/text.ts'
import { random } from '../../base/time.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { consolePathOf, registerConsole, type ConsoleFile, type ConsoleSource } from './console-routes.ts'
import { CatalogReport, type ServedFacts } from './catalog-report.ts'
import type { PickedCaller, PickedCallers } from './picked-callers.ts'
import { toSandbox } from './sandbox.ts'
import { TaskLog } from './task-log.ts'

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml'
}

const KEY_BYTES = 16

/** Reads the recording of a task. Resolves to an object without one for a task that is unknown. */
type TaskReader = (
  id: string, options: { readonly trivet: string, readonly hasValues: boolean }
) => Promise<{ readonly recording?: object }>

export interface ConsoleOptions {
  /** The folder of the page's files. */
  readonly folder: string
  /** The version of Trivet. */
  readonly version: string
  /** The path of the endpoint. */
  readonly endpoint: string
  /** Absent if the service checks tokens. */
  readonly callers?: PickedCallers
  /** Makes tokens of callers for a service that checks them. Absent if it takes those of others alone. */
  readonly desk?: {
    readonly firstCaller: PickedCaller
    signFor (caller: PickedCaller): Promise<string>
  } | undefined
}

export class AuthorConsole implements ConsoleSource {
  readonly files: ReadonlyMap<string, ConsoleFile>
  readonly report = new CatalogReport()
  readonly taskLog = new TaskLog()
  /** Tells the sandbox of this process from the page of another program. */
  readonly #sandboxKey = random.name(KEY_BYTES)
  readonly #options: ConsoleOptions
  #readTask: TaskReader | undefined
  /** The state as JSON, while its facts are the same. */
  #state: { readonly facts: ServedFacts, readonly json: string } | undefined

  constructor (files: ReadonlyMap<string, ConsoleFile>, options: ConsoleOptions) {
    this.files = files
    this.#options = options
  }

  get path (): string { return consolePathOf(this.#options.endpoint) }

  register (app: FastifyInstance): void { registerConsole(app, this, this.#options.endpoint) }

  /** Called when the service has its tasks, which open after the console. */
  showTasks (readTask: TaskReader): void { this.#readTask = readTask }

  /** Where tokens are checked, nobody has shown one here: values and the log are left out. */
  async readTask (id: string): Promise<object | undefined> {
    const { version: trivet, callers } = this.#options
    const hasValues = callers !== undefined
    const { recording } = await this.#readTask?.(id, { trivet, hasValues }) ?? {}
    return recording && { recording, log: hasValues ? this.taskLog.of(id) : [] }
  }

  readState (): string {
    const { facts } = this.report
    if (this.#state?.facts !== facts) this.#state = { facts, json: this.#write(facts) }
    return this.#state.json
  }

  #write ({ scopes, files, scoped, ...catalog }: ServedFacts): string {
    const { endpoint, version, callers, desk } = this.#options
    return toWellFormedJson(JSON.stringify({
      endpoint,
      version,
      callers: callers !== undefined ? 'picked' : desk === undefined ? 'token' : 'desk',
      caller: callers?.unnamed ?? desk?.firstCaller ?? { scopes: [] },
      sandboxKey: this.#sandboxKey,
      scopes,
      scoped,
      catalog,
      files
    }))
  }

  showScreen (csp: string): ReturnType<typeof toSandbox> { return toSandbox(csp, this.#sandboxKey) }

  async pick (caller: unknown): Promise<string> {
    const { callers, desk } = this.#options
    if (callers !== undefined) return callers.sign(readCaller(caller))
    if (desk === undefined) throw new TypeError('this service checks tokens: TRIVET_AUTH is set')
    return await desk.signFor(readCaller(caller))
  }
}

/** Rejects with a StartError if the files of the page cannot be read. */
export async function openAuthorConsole (options: ConsoleOptions): Promise<AuthorConsole> {
  try {
    const names = await readdir(options.folder)
    const files = await Promise.all(names.map(async (name) => {
      const type = TYPES[extname(name)] ?? 'application/octet-stream'
      return [name, { type, bytes: await readFile(join(options.folder, name)) }] as const
    }))
    return new AuthorConsole(new Map(files), options)
  } catch (error) {
    const advice = 'The files of the console cannot be read: install Trivet again, or use --no-console'
    throw new StartError(advice, { cause: error })
  }
}

const EXPECTED = 'a caller is { subject?, clientId?, scopes: [...], claims?: {...} }'

/** Throws a TypeError. */
function readCaller (value: unknown): PickedCaller {
  if (!isObject(value)) throw new TypeError(EXPECTED)
  const { subject, clientId, scopes, claims } = value
  const isName = (name: unknown) => name === undefined || (typeof name === 'string' && name !== '')
  if (!isName(subject) || !isName(clientId) || !isScopes(scopes)) throw new TypeError(EXPECTED)
  if (claims !== undefined && !isObject(claims)) throw new TypeError(EXPECTED)
  return {
    scopes,
    ...typeof subject === 'string' && { subject },
    ...typeof clientId === 'string' && { clientId },
    ...claims !== undefined && { claims }
  }
}

function isScopes (value: unknown): value is string[] {
  return Array.isArray(value) && value.every((scope) => typeof scope === 'string' && scope !== '')
}
