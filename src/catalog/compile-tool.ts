// A tool's definition, checked and made ready to be called.

import type { Context } from '../authoring/context.ts'
import type { ToolDefinition } from '../authoring/define-tool.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema, Tool } from '../protocol/primitives.ts'
import type { Check } from '../schema/check.ts'
import { SchemaError, type SchemaCompiler } from '../schema/json-schema.ts'
import { isStandardSchema, toCheck, toJsonSchema } from '../schema/standard-schema.ts'
import type { Complain } from './complaint.ts'
import { toolShape } from './definition-shapes.ts'
import { findMirroredParams, type MirroredParam } from './mirrored-params.ts'
import { toOffered, type Offered } from './offered.ts'

export interface CompiledTool extends Offered {
  readonly mirroredParams: readonly MirroredParam[]
  readonly requiredCapabilities: ClientCapabilities | undefined
  readonly timeoutMs: number | undefined
  readonly checkInput: Check
  readonly checkOutput: Check | undefined
  run (args: unknown, ctx: Context): unknown
}

export interface SchemaCompilers { readonly input: SchemaCompiler, readonly output: SchemaCompiler }

const NO_ARGUMENTS: JsonSchema = { type: 'object', additionalProperties: false }

/** `undefined` where the definition is unusable; every reason has then been complained of. */
export function compileTool (definition: ToolDefinition, compilers: SchemaCompilers, complain: Complain): CompiledTool | undefined {
  const verdict = toolShape(definition)
  if (!verdict.ok) {
    for (const problem of verdict.problems) complain('', problem)
    return undefined
  }
  if (typeof definition.run !== 'function') {
    complain('run', 'must be a function')
    return undefined
  }
  const input = compileSchema(definition.inputSchema ?? NO_ARGUMENTS, 'input', compilers, (rule) => complain('inputSchema', rule))
  const output = definition.outputSchema === undefined
    ? undefined
    : compileSchema(definition.outputSchema, 'output', compilers, (rule) => complain('outputSchema', rule))
  if (input === undefined || (definition.outputSchema !== undefined && output === undefined)) return undefined
  if (input.schema.type !== 'object') {
    complain('inputSchema', `must have "type": "object" at its root, got ${JSON.stringify(input.schema.type)}`)
    return undefined
  }
  const { requiredCapabilities, timeoutMs } = definition
  return {
    ...toOffered(definition.name, definition, toEntry(definition, input.schema, output?.schema)),
    mirroredParams: findMirroredParams(input.schema, (place, rule) => complain(`inputSchema${place}`, rule)),
    requiredCapabilities,
    timeoutMs,
    checkInput: input.check,
    checkOutput: output?.check,
    run: (args, ctx) => definition.run(args, ctx)
  }
}

function toEntry (definition: ToolDefinition, inputSchema: JsonSchema, outputSchema: JsonSchema | undefined): Tool {
  const { name, title, description, annotations, icons, _meta } = definition
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta })
  }
}

interface CompiledSchema { readonly schema: JsonSchema, readonly check: Check }

function compileSchema (schema: object, direction: 'input' | 'output', compilers: SchemaCompilers, complain: (rule: string) => void): CompiledSchema | undefined {
  try {
    if (isStandardSchema(schema)) {
      const json = toJsonSchema(schema, direction)
      // What is shown to clients must be usable by them, although the library does the checking.
      compilers[direction].compile(json)
      return { schema: json, check: toCheck(schema) }
    }
    if (!isObject(schema)) {
      complain('must be a JSON Schema object or a Standard Schema')
      return undefined
    }
    return { schema, check: compilers[direction].compile(schema) }
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    for (const fault of error.faults) complain(fault)
    return undefined
  }
}
