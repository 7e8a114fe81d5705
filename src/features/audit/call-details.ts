// What the log of `trivet dev` adds to the line of a call: its arguments and its result without secrets, and
// the scopes that a refused caller lacks. The log for people cuts each of them to one line.

import type { DescribeCall, Ending, Observed } from '../../request/pipeline/observer.ts'
import { redact, secretTextsIn } from './redaction.ts'

const CALLS: ReadonlySet<string | undefined> = new Set(['tools/call', 'prompts/get', 'resources/read'])
const NO_NAMES: ReadonlySet<string> = new Set()
/** The longest result that is read, in bytes or in UTF-16 code units. */
const MAX_READ_LENGTH = 262_144
/** What a problem of an argument quotes. */
const QUOTED_VALUE = /, got [^\n]*/g

interface CallDetailsOptions {
  /** Whether the log has the lines of calls. */
  isShown (): boolean
  /** Returns the texts of all secret settings, by definition. */
  readSecrets (): ReadonlyMap<object, readonly string[]>
}

/** The fields of the line. Each is absent if there is nothing to show. */
interface CallDetails {
  readonly arguments?: unknown
  readonly result?: unknown
  /** The message of the error that the client got. */
  readonly error?: unknown
  readonly neededScopes?: readonly string[]
  readonly callerScopes?: readonly string[]
}

export function createCallDetails ({ isShown, readSecrets }: CallDetailsOptions): DescribeCall {
  return (observed, ending): CallDetails => {
    if (!isShown()) return {}
    if (!CALLS.has(observed.method)) return toScopes(observed)
    const { callArguments, isToolError } = observed
    const secretNames = callArguments?.rule.secretNames ?? NO_NAMES
    const args = callArguments?.args ?? {}
    const settings = [...readSecrets().values()].flat()
    const secretArguments = secretTextsIn(args, secretNames)
    const secrets = new Set([...settings, ...secretArguments])
    const clean = (value: unknown) => redact(value, secretNames, secrets)
    // Problems of arguments quote a part of a value.
    const withoutQuotes = (value: unknown) => {
      const isQuoting = secretArguments.size > 0 && typeof value === 'string'
      return clean(isQuoting ? value.replaceAll(QUOTED_VALUE, '') : value)
    }
    const result = readResult(ending)
    const text = isToolError ? withoutQuotes(result) : clean(result)
    const error = withoutQuotes(errorOf(ending))
    return {
      ...Object.keys(args).length > 0 && { arguments: clean(args) },
      ...text !== undefined && { result: text },
      ...error !== undefined && { error },
      ...toScopes(observed)
    }
  }
}

function toScopes ({ neededScopes, principal }: Observed): CallDetails {
  return neededScopes === undefined ? {} : { neededScopes, callerScopes: [...principal?.scopes ?? []] }
}

/** The scopes say more than a refusal. The log has an error with a cause already. */
function errorOf ({ protocolError }: Ending): string | undefined {
  if (protocolError?.httpStatus === 403 || protocolError?.cause !== undefined) return undefined
  return protocolError?.message
}

function readResult ({ result }: Ending): unknown {
  // An undo has no result.
  if (result === undefined || result.length === 0) return undefined
  if (result.length > MAX_READ_LENGTH) return `${result.length} bytes of JSON`
  return toContents(JSON.parse(String(result)))
}

interface ResultJson {
  readonly structuredContent?: unknown
  readonly content?: unknown
  readonly messages?: unknown
  readonly contents?: unknown
}

/** Returns the part of a result that its author has made. */
function toContents (result: ResultJson): unknown {
  const { structuredContent, content, messages, contents } = result
  if (structuredContent !== undefined) return structuredContent
  const parts = content ?? messages ?? contents
  if (!Array.isArray(parts)) return result
  return parts.length === 1 ? textOf(parts[0]) : parts.map(textOf)
}

interface PartJson { readonly text?: unknown, readonly content?: unknown }

/** Returns the text of a block, a message or a content. A part without text is returned as it is. */
function textOf (part: PartJson): unknown {
  const { text, content } = part
  if (typeof text === 'string') return toValue(text)
  return typeof content === 'object' && content !== null ? textOf(content) : part
}

/** Reads a text that is JSON: its members may have names of secrets. */
function toValue (text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
