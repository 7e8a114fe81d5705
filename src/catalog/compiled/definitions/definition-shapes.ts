// Checks of definitions at load. The types of the define functions have the same rules, but only for authors
// who use TypeScript.

import { MEDIA_TYPE } from '../../../base/media-types.ts'
import { RATE_PATTERN } from '../../../platform/limits/rate.ts'
import { APP_PERMISSIONS } from '../../../platform/protocol/apps.ts'
import { findJsonLoss } from '../../../platform/schema/json-form.ts'
import type { JsonSchemaCheck } from '../../../platform/schema/json-schema.ts'
import { checkOf } from '../../../platform/schema/reader.ts'
import { Type, type FormatSchema } from '../../../platform/schema/type.ts'

const TOOL_NAME = '^[A-Za-z0-9_.-]{1,128}$'
// A key may begin with a reverse domain name and a slash. The specification reserves the domain names whose
// first or second label is `mcp` or `modelcontextprotocol`.
const DOMAIN_LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const META_KEY = '^(?!(?:[^./]+\\.)?(?:modelcontextprotocol|mcp)[./])' +
  `(?:${DOMAIN_LABEL}(?:\\.${DOMAIN_LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`
const SCOPE = '[\\x21\\x23-\\x5b\\x5d-\\x7e]+'
const ABSOLUTE_URI = '^[A-Za-z][A-Za-z0-9+.-]*:'

const closed = { additionalProperties: false }
// Without scopes everyone may use the primitive, which is not what an author of `whenMissing` expects.
const closedDefinition = { ...closed, dependentRequired: { whenMissing: ['scopes'] } }
const optional = Type.Optional
const handler = Type.Unknown()

export const scopeToken = Type.String({ pattern: `^${SCOPE}$` })

/** With one space between two scopes, as OAuth writes them. */
export const SCOPE_LIST = `^${SCOPE}(?: ${SCOPE})*$`

export const icon = Type.Object({
  src: Type.String({ pattern: '^(?:https?:|data:)' }),
  mimeType: optional(Type.String({ pattern: MEDIA_TYPE })),
  sizes: optional(Type.Array(Type.String({ pattern: '^(?:any|\\d+x\\d+)$' }))),
  theme: optional(Type.Enum(['light', 'dark']))
}, closed)

const rate = optional(Type.String({ pattern: RATE_PATTERN }))
const callCount = optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }))

/** Whether arguments are repaired. */
export const argumentsMode = optional(Type.Enum(['repair', 'strict']))

const byteCount = Type.Integer({ minimum: 2, maximum: 1_073_741_824 })
/** The frame of a result and the notice of a cut take a part of this. */
const cutByteCount = Type.Integer({ minimum: 2000, maximum: 1_073_741_824 })

export const callLimits = Type.Object({
  calls: rate,
  allCalls: rate,
  running: callCount,
  allRunning: callCount,
  argumentBytes: optional(byteCount),
  argumentDepth: optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  resultBytes: optional(Type.Union([
    byteCount,
    Type.Object({ max: byteCount, then: optional(Type.Literal('refuse')) }, closed),
    Type.Object({ max: cutByteCount, then: Type.Literal('cut') }, closed)
  ]))
}, closed)

export const meta = Type.Record(Type.Unknown(), META_KEY)

const common = {
  title: optional(Type.String({ minLength: 1 })),
  description: optional(Type.String({ minLength: 1 })),
  icons: optional(Type.Array(icon)),
  _meta: optional(meta),
  scopes: optional(Type.Array(scopeToken)),
  whenMissing: optional(Type.Enum(['hide', 'challenge'])),
  audit: optional(Type.Enum(['names', 'values'])),
  timeoutMs: optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
  order: optional(Type.Number())
}

/** The option of definitions. Whether each item is an upstream is checked later. */
const upstreams = optional(Type.Array(Type.Unknown()))

/** A date, or a date and a time, of ISO 8601. */
const dateText = Type.Union([
  Type.String({ format: 'date' }), Type.String({ format: 'iso-date-time' })
])

const audience = optional(Type.Array(Type.Enum(['user', 'assistant'])))

export const annotationMembers = {
  audience,
  priority: optional(Type.Number({ minimum: 0, maximum: 1 })),
  lastModified: optional(dateText)
}

const toolAnnotations = Type.Object({
  title: optional(Type.String()),
  readOnlyHint: optional(Type.Boolean()),
  destructiveHint: optional(Type.Boolean()),
  idempotentHint: optional(Type.Boolean()),
  openWorldHint: optional(Type.Boolean())
}, closed)

const taskTime = optional(Type.Integer({ minimum: 1000, maximum: 2_592_000_000 }))

const tool = Type.Object({
  ...common,
  name: Type.String({ pattern: TOOL_NAME }),
  inputSchema: optional(Type.Unknown()),
  outputSchema: optional(Type.Unknown()),
  flattenUnion: optional(Type.Boolean()),
  annotations: optional(toolAnnotations),
  requiredCapabilities: optional(Type.Record(Type.Record(Type.Unknown()))),
  limits: optional(callLimits),
  arguments: argumentsMode,
  dedupe: optional(Type.Boolean()),
  task: optional(Type.Enum(['never', 'allowed', 'required'])),
  ttlMs: taskTime,
  keepResultMs: taskTime,
  onReplicaLoss: optional(Type.Enum(['fail', 'rerun'])),
  onDeploy: optional(Type.Enum(['resume', 'fail'])),
  relayQuestions: optional(Type.Union([Type.Boolean(), Type.Enum(['links'])])),
  ui: optional(Type.String({ minLength: 1 })),
  upstreams,
  visibility: optional(Type.Array(Type.Enum(['model', 'app']), { minItems: 1 })),
  authorize: optional(handler),
  undo: optional(handler),
  run: handler
}, {
  ...closed,
  dependentRequired: {
    ...closedDefinition.dependentRequired,
    ttlMs: ['task'],
    keepResultMs: ['task'],
    onReplicaLoss: ['task'],
    undo: ['task'],
    onDeploy: ['task']
  }
})

const prompt = Type.Object({
  ...common,
  name: Type.String({ minLength: 1, maxLength: 128 }),
  arguments: optional(Type.Array(Type.Object({
    name: Type.String({ minLength: 1 }),
    title: optional(Type.String()),
    description: optional(Type.String()),
    required: optional(Type.Boolean()),
    complete: optional(Type.Unknown())
  }, closed))),
  upstreams,
  render: handler
}, closedDefinition)

const readable = {
  ...common,
  name: Type.String({ minLength: 1 }),
  mimeType: optional(Type.String({ pattern: MEDIA_TYPE })),
  annotations: optional(Type.Object(annotationMembers, closed)),
  cache: optional(Type.Object({
    ttlMs: optional(Type.Integer({ minimum: 0 })),
    cacheScope: optional(Type.Enum(['public', 'private']))
  }, closed))
}

/** What the sidecar of a plain file may say. */
export const fileSettings = Type.Object({ ...readable, name: optional(readable.name) }, closed)

/** What the sidecar of a folder of plain files may say. */
export const folderSettings = Type.Object({
  scopes: readable.scopes,
  whenMissing: readable.whenMissing,
  cache: readable.cache,
  annotations: optional(Type.Object({ audience }, closed))
}, closed)

const origins = optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 }))

/** What app.yaml may say of a screen. */
export const appSettings = Type.Object({
  title: readable.title,
  description: readable.description,
  icons: readable.icons,
  annotations: readable.annotations,
  scopes: readable.scopes,
  whenMissing: readable.whenMissing,
  cache: readable.cache,
  order: readable.order,
  csp: optional(Type.Object({
    connectDomains: origins, resourceDomains: origins, frameDomains: origins, baseUriDomains: origins
  }, closed)),
  permissions: optional(Type.Array(Type.Enum([...APP_PERMISSIONS]))),
  domain: optional(Type.String({ minLength: 1, maxLength: 253 })),
  prefersBorder: optional(Type.Boolean())
}, closedDefinition)

const uri = Type.String({ pattern: ABSOLUTE_URI })
const size = optional(Type.Integer({ minimum: 0 }))

const resource = Type.Object({ ...readable, uri, size, upstreams, read: handler }, closedDefinition)

const template = Type.Object({
  ...readable,
  uriTemplate: Type.String({ pattern: ABSOLUTE_URI }),
  complete: optional(Type.Record(Type.Unknown())),
  list: optional(handler),
  listTtlMs: optional(Type.Integer({ minimum: 1000 })),
  upstreams,
  read: handler
}, closedDefinition)

const handle = Type.Object({
  kind: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
  prefix: Type.String({ pattern: '^[a-z][a-z0-9]{0,15}$' }),
  schema: Type.Unknown(),
  migrate: optional(handler),
  idleTtlMs: Type.Integer({ minimum: 1000, maximum: 31_536_000_000 }),
  maxAgeMs: optional(Type.Integer({ minimum: 1000 })),
  maxBytes: optional(Type.Integer({ minimum: 1, maximum: 1_048_576 })),
  createdBy: optional(Type.String({ pattern: TOOL_NAME }))
}, closed)

const keyword = {
  text: optional(Type.String()), number: optional(Type.Number()), flag: optional(Type.Boolean())
}

const setting = Type.Object({
  type: optional(Type.Enum(['string', 'number', 'integer', 'boolean'])),
  enum: optional(Type.Array(Type.String(), { minItems: 1 })),
  format: keyword.text,
  pattern: keyword.text,
  minLength: size,
  maxLength: size,
  minimum: keyword.number,
  maximum: keyword.number,
  exclusiveMinimum: keyword.number,
  exclusiveMaximum: keyword.number,
  multipleOf: keyword.number,
  default: optional(Type.Unknown()),
  optional: keyword.flag,
  secret: keyword.flag,
  description: keyword.text
}, closed)

const timeLimit = optional(Type.Integer({ minimum: 1, maximum: 300_000 }))

const dependency = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  settings: optional(Type.Unknown()),
  open: handler,
  close: optional(handler),
  check: optional(handler),
  openTimeoutMs: timeLimit,
  closeTimeoutMs: timeLimit
}, closed)

const {
  audit: _audit, timeoutMs: _timeoutMs, order: _order, cache: _cache, ...listable
} = readable

const listedResource = Type.Object({
  ...listable, size, uri: optional(uri), variables: optional(Type.Record(Type.Unknown()))
}, closedDefinition)

/** Checks a definition that a list has: JSON must represent all of its `_meta`. */
function checkOfListed (schema: FormatSchema): JsonSchemaCheck {
  const check = checkOf(schema)
  return (value) => {
    const verdict = check(value)
    const loss = verdict.ok ? findJsonLoss(Reflect.get(Object(value), '_meta') ?? {}) : undefined
    return loss === undefined ? verdict : { ok: false, problems: [`_meta: ${loss}`] }
  }
}

export const toolShape = checkOfListed(tool)
export const promptShape = checkOfListed(prompt)
export const resourceShape = checkOfListed(resource)
export const templateShape = checkOfListed(template)
export const handleShape = checkOf(handle)
export const settingShape = checkOf(setting)
export const dependencyShape = checkOf(dependency)
export const listedResourceShape = checkOfListed(listedResource)
