// Forms, made ready to be sent and to have their answers checked: once for each schema, however often it is
// asked.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import type { Check } from '../schema/check.ts'
import { createSchemaCompiler, SchemaError } from '../schema/json-schema.ts'
import { findSchemaProblems } from '../schema/schema-limits.ts'
import { isStandardSchema, toCheck, toJsonSchema } from '../schema/standard-schema.ts'
import { findFormProblems, toFormSchema } from './form-schema.ts'

export interface Form {
  /** Why it cannot be sent; empty where it can. */
  readonly problems: readonly string[]
  /** The requested schema. */
  readonly json: string
  readonly fields: readonly string[]
  /** Judges the content of an answer. */
  readonly check: Check
}

export interface Forms {
  /** The form of what an author gave as its schema. */
  of (schema: unknown): Form
}

// Handlers may make up a schema for each question: what was compiled for them must not pile up.
const MAX_FORMS = 256

export function createForms (): Forms {
  let compiler = createSchemaCompiler({ useDefaults: false })
  let byJson = new Map<string, Form>()
  const byStandardSchema = new WeakMap<object, Form>()

  function ofPlain (json: string): Form {
    const known = byJson.get(json)
    if (known !== undefined) return known
    if (byJson.size === MAX_FORMS) {
      byJson = new Map()
      compiler = createSchemaCompiler({ useDefaults: false })
    }
    const form = toPlainForm(json, compiler.compile)
    byJson.set(json, form)
    return form
  }

  return {
    of (schema) {
      if (isStandardSchema(schema)) {
        const form = byStandardSchema.get(schema) ??
          attempt(() => toForm(toFormSchema(toJsonSchema(schema, 'input'), true), () => toCheck(schema)))
        byStandardSchema.set(schema, form)
        return form
      }
      return attempt(() => ofPlain(toSchemaJson(schema)))
    }
  }
}

function toPlainForm (json: string, compile: (schema: JsonSchema) => Check): Form {
  const schema: unknown = JSON.parse(json)
  if (!isObject(schema)) return unusable(['must be a JSON Schema object or a Standard Schema'])
  const wire = toFormSchema(schema, false)
  return toForm(wire, () => compile(wire))
}

/** What a form says can always be compiled, so that may wait until there is an answer to check. */
function toForm (schema: JsonSchema, toCheck: () => Check): Form {
  const json = JSON.stringify(schema)
  const limits = findSchemaProblems(schema, json)
  const problems = limits.length > 0 ? limits : findFormProblems(schema)
  let check: Check | undefined
  return {
    problems,
    json,
    fields: isObject(schema.properties) ? Object.keys(schema.properties) : [],
    check: (content) => (check ??= toCheck())(content)
  }
}

function toSchemaJson (schema: unknown): string {
  try {
    return JSON.stringify(schema) ?? 'null'
  } catch (error) {
    throw new SchemaError([`is not JSON: ${error instanceof Error ? error.message : String(error)}`])
  }
}

function attempt (toForm: () => Form): Form {
  try {
    return toForm()
  } catch (error) {
    if (error instanceof SchemaError) return unusable(error.problems)
    throw error
  }
}

function unusable (problems: readonly string[]): Form {
  return { problems, json: '', fields: [], check: () => ({ ok: false, problems }) }
}
