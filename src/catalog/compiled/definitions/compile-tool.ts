// Compiles the definition of a tool.

import { hash } from 'node:crypto'
import type { ToolDefinition } from '../../../platform/author/define-tool.ts'
import { readCallLimits } from '../../../platform/limits/call-limits.ts'
import { META_APP_URI, type AppToolMeta } from '../../../platform/protocol/apps.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import type { Meta } from '../../../platform/protocol/content.ts'
import type { JsonSchema, Tool } from '../../../platform/protocol/primitives.ts'
import { TASKS_CAPABILITY } from '../../../platform/protocol/tasks.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { createRepair } from '../../../platform/schema/repair/argument-repair.ts'
import { flattenUnion } from '../../hosts/flatten-union.ts'
import { resolveReferences } from '../../hosts/resolve-references.ts'
import {
  toCompiledPrimitive, type CompiledTool, type DedupeRule, type EntryMembers, type TaskRule
} from '../compiled-primitive.ts'
import type { LocatedTool, ServerSettings } from '../contents.ts'
import type { ReportProblem } from '../problem.ts'
import { authorize, runAuthorized } from '../scopes/run-authorized.ts'
import { toAuditRule } from './audit-rule.ts'
import { hasHandlers, hasShape } from './check-definition.ts'
import { compileSchema, type CompiledSchema, type SchemaCompilers } from './compile-schema.ts'
import { toolShape } from './definition-shapes.ts'
import { findMirroredParams, mayMirrorParams } from './mirrored-params.ts'

const HOUR_MS = 3_600_000

const NO_ARGUMENTS: JsonSchema = { type: 'object', additionalProperties: false }

/** The member of cut structured content that says so. */
export const NOTICE = 'notice'
const NOTICE_SCHEMA = { type: 'string', description: 'Present if the result was cut: how to read the rest.' }

/** What the rest of the catalog adds to a tool. */
interface ToolAdditions {
  /** The service's own text for the model. It is appended to the tool's description. */
  readonly remark?: string | undefined
  /** The URI of the app that the tool names. */
  readonly appUri?: string | undefined
  readonly hasTasks?: boolean | undefined
  /** The limits of server.yaml, for all tools. */
  readonly allLimits?: ServerSettings['limits']
  /** How the list has the schemas. `auto` by default. */
  readonly schemas?: ServerSettings['schemas']
}

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compileTool (
  located: Omit<LocatedTool, 'place'>, compilers: SchemaCompilers, report: ReportProblem,
  { remark, appUri, hasTasks = true, allLimits, schemas = 'auto' }: ToolAdditions = {}
): CompiledTool | undefined {
  const { definition, file } = located
  if (!hasShape(toolShape, definition, report)) return undefined
  const { run, undo } = definition
  if (!hasHandlers({ run, undo, authorize: definition.authorize }, report)) return undefined
  if (definition.dedupe === true && definition.annotations?.idempotentHint !== true) {
    report('dedupe', 'needs annotations: { idempotentHint: true }, because a call may still run twice')
    return undefined
  }
  const task = toTaskRule(located)
  if (definition.dedupe === true && task !== undefined) {
    const option = task.isForQuestions ? 'relayQuestions' : 'task'
    report('dedupe', `cannot be used with ${option}: give the steps of a task keys instead`)
    return undefined
  }
  const input = compileSchema(
    definition.inputSchema ?? NO_ARGUMENTS, 'input', compilers, (rule) => report('inputSchema', rule)
  )
  const limits = readCallLimits(definition.limits)
  const cutBytes = limits.cutBytes ?? readCallLimits(allLimits).cutBytes
  const output = definition.outputSchema === undefined
    ? undefined
    : compileSchema(
      definition.outputSchema, 'output', compilers, (rule) => report('outputSchema', rule),
      cutBytes === undefined ? undefined : allowNotice
    )
  if (input === undefined || (definition.outputSchema !== undefined && output === undefined)) return undefined
  if (input.schema.type !== 'object') {
    report('inputSchema', `must have "type": "object" at its root, got ${JSON.stringify(input.schema.type)}`)
    return undefined
  }
  const { requiredCapabilities, timeoutMs, dedupe } = definition
  const mirroredParams = mayMirrorParams(input.json)
    ? findMirroredParams(input.schema, (place, rule) => report(`inputSchema${place}`, rule))
    : []
  const toListed = schemas === 'auto' ? resolveReferences : (json: string) => json
  const inputJson = toListed(input.json)
  const listed = definition.flattenUnion === true ? flattenUnion(inputJson) : { json: inputJson, words: '' }
  const outputMember = output === undefined ? '' : `,"outputSchema":${toListed(output.json)}`
  return {
    ...toCompiledPrimitive(
      definition.name, located,
      toToolEntry(definition, [remark, listed.words], toToolMeta(definition, appUri, report)),
      `"inputSchema":${listed.json}${outputMember}`
    ),
    file,
    mirroredParams,
    requiredCapabilities,
    timeoutMs,
    limits,
    audit: toAuditRule(
      definition, Object.keys(input.schema.properties ?? {}), input.schema, output?.schema
    ),
    dedupe: dedupe === true ? toDedupeRule(definition, output) : undefined,
    task: hasTasks ? task : undefined,
    checkInput: input.check,
    repairInput: createRepair({
      schema: input.schema,
      mayRepairBooleans: definition.annotations?.readOnlyHint === true,
      // A header mirrors what came.
      fixedPlaces: new Set(mirroredParams.flatMap(
        ({ path }) => path.map((_, index) => path.slice(0, index + 1).join('/'))
      ))
    }),
    arguments: definition.arguments,
    checkOutput: output?.check,
    clientCheck: output?.clientCheck,
    run: definition.authorize === undefined
      ? (args, ctx) => definition.run(args, ctx)
      : (args, ctx) => runAuthorized(definition, args, ctx)
  }
}

/** Adds the notice of a cut to a closed schema, which would not accept it. */
function allowNotice (schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties } = schema
  return additionalProperties !== false || !isObject(properties) || NOTICE in properties
    ? schema
    : { ...schema, properties: { ...properties, [NOTICE]: NOTICE_SCHEMA } }
}

function toDedupeRule (definition: ToolDefinition, output: CompiledSchema | undefined): DedupeRule {
  return {
    upstreams: definition.upstreams,
    outputHash: hash('sha256', output?.json ?? '', 'base64url'),
    authorize: (args, ctx) => authorize(definition, args, ctx),
    run: (args, ctx) => definition.run(args, ctx)
  }
}

function toTaskRule ({ definition, fingerprint }: Omit<LocatedTool, 'place'>): TaskRule | undefined {
  const { task = 'never', ttlMs = HOUR_MS, keepResultMs = HOUR_MS, relayQuestions = false } = definition
  if (task === 'never' && relayQuestions === false) return undefined
  const { onReplicaLoss, onDeploy, requiredCapabilities } = definition
  return {
    isForQuestions: task === 'never',
    relaysQuestions: relayQuestions === true,
    requiredCapabilities: task === 'required' ? requireTasks(requiredCapabilities) : undefined,
    ttlMs,
    keepResultMs,
    mayRerun: onReplicaLoss === 'rerun',
    undo: definition.undo && ((args, ctx) => definition.undo?.(args, ctx)),
    mayGoOnChanged: onDeploy !== 'fail',
    fingerprint
  }
}

function requireTasks (capabilities: ClientCapabilities = {}): ClientCapabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, ...TASKS_CAPABILITY.extensions } }
}

function toToolEntry (
  definition: ToolDefinition, remarks: ReadonlyArray<string | undefined>, _meta: Meta | undefined
): EntryMembers<Omit<Tool, 'inputSchema' | 'outputSchema'>> {
  const { name, title, annotations, icons } = definition
  const description = [definition.description, ...remarks].filter(Boolean).join('\n\n') || undefined
  return { name, title, description, icons, annotations, _meta }
}

/**
 * Returns `undefined` for a tool without any.
 * @param appUri of the app that the tool names.
 */
function toToolMeta (
  { _meta, visibility }: ToolDefinition, appUri: string | undefined, report: ReportProblem
): Meta | undefined {
  if (visibility === undefined && appUri === undefined) return _meta
  if (_meta !== undefined && ('ui' in _meta || META_APP_URI in _meta)) {
    report('_meta.ui', 'is made from ui and visibility: remove it here')
  }
  const ui: AppToolMeta = {
    ...(appUri !== undefined && { resourceUri: appUri }), ...(visibility !== undefined && { visibility })
  }
  return { ..._meta, ui, ...(appUri !== undefined && { [META_APP_URI]: appUri }) }
}
