// Forms: the JSON to send, and the check of the answers. Questions with equal schemas share one form.

import { toWellFormedJson } from '../../base/text.ts'
import { messageOf } from '../../base/words.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import type { Check } from '../../platform/schema/check.ts'
import { createSchemaCompiler, SchemaError } from '../../platform/schema/json-schema.ts'
import { findSchemaProblems } from '../../platform/schema/schema-limits.ts'
import { isStandardSchema, toCheck, toJsonSchema } from '../../platform/schema/standard-schema.ts'
import { findFormProblems, toFormSchema } from './form-schema.ts'

export interface Form {
  /** A form with problems cannot be sent. */
  readonly problems: readonly string[]
  /** The `requestedSchema` of the form. */
  readonly json: string
  readonly fields: readonly string[]
  /** Checks the content of an answer. */
  readonly check: Check
}

/** The limit of compiled forms. A handler may make a new schema for each question. */
const MAX_FORMS = 256

export class Forms {
  #compiler = createSchemaCompiler({ useDefaults: false })
  #byJson = new Map<string, Form>()
  readonly #byStandardSchema = new WeakMap<object, Form>()

  /** @param schema the author's schema, of any kind. */
  of (schema: unknown): Form {
    if (!isStandardSchema(schema)) return catchSchemaError(() => this.#ofJson(toSchemaJson(schema)))
    const earlier = this.#byStandardSchema.get(schema)
    if (earlier !== undefined) return earlier
    const form = catchSchemaError(
      () => toForm(toFormSchema(toJsonSchema(schema, 'input'), true), () => toCheck(schema))
    )
    this.#byStandardSchema.set(schema, form)
    return form
  }

  #ofJson (json: string): Form {
    const earlier = this.#byJson.get(json)
    if (earlier !== undefined) return earlier
    if (this.#byJson.size === MAX_FORMS) {
      this.#byJson = new Map()
      this.#compiler = createSchemaCompiler({ useDefaults: false })
    }
    const { compile } = this.#compiler
    const schema: unknown = JSON.parse(json)
    if (!isObject(schema)) throw new SchemaError(['must be a JSON Schema object or a Standard Schema'])
    const wire = toFormSchema(schema, false)
    const form = toForm(wire, () => compile(wire))
    this.#byJson.set(json, form)
    return form
  }
}

/** A valid form always compiles: `toCheck` is called when there is an answer to check. */
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
    // Clients repeat the names of fields and the choices as they are sent.
    return toWellFormedJson(JSON.stringify(schema) ?? 'null')
  } catch (error) {
    throw new SchemaError([`is not JSON: ${messageOf(error)}`])
  }
}

function catchSchemaError (toForm: () => Form): Form {
  try {
    return toForm()
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    const { problems } = error
    return { problems, json: '', fields: [], check: () => ({ ok: false, problems }) }
  }
}
