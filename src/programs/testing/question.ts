// A question of a handler, as a test sees and answers it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import type {
  FormAnswer, InputKind, RootsAnswer, SampleAnswer, UrlAnswer
} from '../../platform/author/input-request.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'

/** One question of a handler. */
export interface TestQuestion {
  /** The key in the handler's `ctx.ask`. */
  readonly key: string
  /** `form` and `url` are of `elicit`, `sample` asks the client's model, `roots` asks for its roots. */
  readonly kind: InputKind
  /** The text for the user; for `sample` the texts of its messages. Empty for `roots`. */
  readonly message: string
  /** The parameters as the client receives them, such as `requestedSchema` of a form. */
  readonly params: { readonly [key: string]: unknown }
}

/** A file as its user uploads it. `mimeType` is `application/octet-stream` by default. */
export interface TestUpload {
  readonly name: string
  readonly bytes: Uint8Array | string
  readonly mimeType?: string
}

/**
 * The answer to a question. To a form: `{ action: 'accept', content }`, `{ action: 'decline' }` or
 * `{ action: 'cancel' }`; to a URL: `{ action }`, and to that of
 * `ctx.files.upload` `{ action: 'accept', file }`; to `sample`: `{ role, content, model }`; to `roots`:
 * `{ roots }`.
 */
export type TestAnswer = FormAnswer<{ readonly [field: string]: unknown }> | UrlAnswer | SampleAnswer |
  RootsAnswer | TestUploadAnswer

interface TestUploadAnswer { readonly action: 'accept', readonly file: TestUpload }

export function isUpload (answer: TestAnswer): answer is TestUploadAnswer {
  return 'file' in answer
}

/** An input request, as a result has it. */
export interface InputRequestJson { readonly method: string, readonly params?: TestQuestion['params'] }

export function toTestQuestion (key: string, { method, params = {} }: InputRequestJson): TestQuestion {
  const kind = kindOfRequest(method, params)
  const message = kind === 'sample' ? textsIn(params.messages).join('\n') : params.message
  return { key, kind, message: typeof message === 'string' ? message : '', params }
}

function kindOfRequest (method: string, { mode }: TestQuestion['params']): InputKind {
  if (method === 'sampling/createMessage') return 'sample'
  if (method === 'roots/list') return 'roots'
  return mode === 'url' ? 'url' : 'form'
}

/** Every text in content blocks, however deep. */
function textsIn (value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isObject(value)) return []
  return typeof value.text === 'string' ? [value.text] : textsIn(value.content)
}
