// Checks of the definitions of upstreams at load. The types of defineUpstream have the same rules.

import { checkOf } from '../../../platform/schema/reader.ts'
import { Type } from '../../../platform/schema/type.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional
/** A text, or a function of settings. JSON Schema knows no functions. */
const fromSettings = Type.Unknown()
const handler = Type.Unknown()
const text = optional(Type.String({ minLength: 1 }))
const scopes = optional(Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' })))
/** RFC 9110, section 5.6.2. */
const headerName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" })

export const upstreamShape = checkOf(Type.Object({
  name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  url: fromSettings,
  settings: optional(Type.Unknown()),
  auth: Type.Unknown(),
  retry: optional(Type.Unknown()),
  limits: optional(Type.Object({
    timeoutMs: optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
    answerBytes: optional(Type.Integer({ minimum: 1, maximum: 1_073_741_824 })),
    running: optional(Type.Integer({ minimum: 1, maximum: 10_000 }))
  }, closed)),
  allowPrivate: optional(Type.Boolean())
}, closed))

/** For a `retry` that is not `false`. */
export const retryShape = checkOf(Type.Object({
  attempts: optional(Type.Integer({ minimum: 1, maximum: 10 })),
  backoffMs: optional(Type.Number({ minimum: 0, maximum: 60_000 }))
}, closed))

/** One shape for each type: the problems of a union would name the members of all of them. */
export const authShapes = {
  none: checkOf(Type.Object({ type: Type.Literal('none') }, closed)),
  secret: checkOf(Type.Object({
    type: Type.Literal('secret'), header: optional(headerName), value: fromSettings
  }, closed)),
  basic: checkOf(Type.Object({
    type: Type.Literal('basic'), user: fromSettings, password: fromSettings
  }, closed)),
  service: checkOf(Type.Object({
    type: Type.Literal('service'),
    issuer: optional(fromSettings),
    clientId: optional(fromSettings),
    clientSecret: optional(fromSettings),
    audience: text,
    resource: text,
    scopes
  }, closed)),
  exchange: checkOf(Type.Object({
    type: Type.Literal('exchange'), audience: text, resource: text, scopes, keep: optional(Type.Boolean())
  }, closed)),
  claims: checkOf(Type.Object({
    type: Type.Literal('claims'),
    headers: optional(handler),
    jwt: optional(Type.Object({ audience: Type.String({ minLength: 1 }), claims: optional(handler) }, closed))
  }, closed))
}
