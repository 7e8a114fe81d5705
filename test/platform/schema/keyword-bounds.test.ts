// Each keyword that ajv knows is checked in bounded time, whatever a client sends: a check is synchronous.
// The replica answers nobody meanwhile.

import { setTimeout as pause } from 'node:timers/promises'
import addFormats from 'ajv-formats'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import {
  createSchemaCompiler, SchemaError, type JsonSchemaCheck
} from '../../../src/platform/schema/json-schema.ts'
import { threadTime } from '../../helpers/thread-time.ts'
import { HOSTILE_TEXTS } from './hostile-texts.ts'
import { KEYWORDS, REFUSED } from './keyword-rows.ts'
import { BYTES, VALUES, WORST_VALUES } from './keyword-values.ts'

/** The machine may have other work. */
const TIMEOUT_MS = 900_000
t.setTimeout(TIMEOUT_MS)

const MAX_MS = 50
const MAX_ATTEMPTS = 30
/** Between later attempts, so that they do not all meet the same other work of the machine. */
const PAUSE_MS = 100

const { compile } = createSchemaCompiler({ useDefaults: true })

/** Moves a schema to another place. What references lead to stays at the root. */
function moved (put: (schema: JsonSchema) => JsonSchema): (schema: JsonSchema) => JsonSchema {
  return ({ $schema, $id, $defs, $dynamicAnchor, ...schema }) =>
    JSON.parse(JSON.stringify({ $schema, $id, $defs, $dynamicAnchor, ...put(schema) }))
}

const PLACES: { readonly [place: string]: (schema: JsonSchema) => JsonSchema } = {
  'in not': moved((schema) => ({ not: schema })),
  'in anyOf': moved((schema) => ({ anyOf: [schema, { ...schema, maxItems: 0, maxProperties: 0 }, false] })),
  'beside unevaluated parts': moved((schema) => {
    return { allOf: [schema], unevaluatedItems: false, unevaluatedProperties: false, ...schema }
  })
}

async function assertBounded (t: Test, check: JsonSchemaCheck, value: unknown, name: string): Promise<void> {
  let best = Infinity
  for (let attempt = 0; attempt < MAX_ATTEMPTS && best >= MAX_MS; attempt++) {
    if (attempt > 2) await pause(PAUSE_MS)
    const start = threadTime()
    check(value)
    best = Math.min(best, threadTime() - start)
    // No other work makes it take ten times as long.
    if (attempt > 1 && best > 10 * MAX_MS) break
  }
  if (best >= MAX_MS) t.fail(`${name}: ${best} ms of CPU`)
}

const instances = [new Ajv2020(), new Ajv()].map((ajv) => addFormats.default(ajv))

t.test('each keyword of ajv has a row', async (t) => {
  const known = new Set(instances.flatMap(({ RULES }) => Object.keys(RULES.keywords)))
  t.strictSame([...known].sort(), [...Object.keys(KEYWORDS), ...Object.keys(REFUSED)].sort())
})

for (const [keyword, schema] of Object.entries(REFUSED)) {
  t.test(`${keyword} is refused in a schema`, async (t) => {
    t.throws(() => compile(schema), SchemaError)
  })
}

for (const [keyword, cases] of Object.entries(KEYWORDS)) {
  t.test(`${keyword} is checked in bounded time`, { timeout: TIMEOUT_MS }, async (t) => {
    for (const { value: kind, schema } of cases) {
      const name = JSON.stringify(schema).slice(0, 120)
      const check = compile(schema)
      for (const [valueName, value] of Object.entries(VALUES[kind])) {
        await assertBounded(t, check, value, `${name} with ${kind} of ${valueName}`)
      }
      for (const [place, put] of Object.entries(PLACES)) {
        const placed = compile(put(schema))
        for (const value of WORST_VALUES[kind]) await assertBounded(t, placed, value, `${name} ${place}`)
      }
    }
    t.pass('every check ends within 50 ms')
  })
}

for (const format of new Set(instances.flatMap(({ formats }) => Object.keys(formats)))) {
  t.test(`the format ${format} is checked in bounded time`, { timeout: TIMEOUT_MS }, async (t) => {
    const check = compile({ format, items: { format } })
    for (const textOf of HOSTILE_TEXTS) {
      const texts = [100, 3000].map((length) => Array.from({ length: BYTES / length }, () => textOf(length)))
      for (const value of [textOf(BYTES), ...texts]) {
        await assertBounded(t, check, value, `${textOf(100).slice(0, 40)}, ${Array.isArray(value) ? value.length : 'one'}`)
      }
    }
    t.pass('every check ends within 50 ms')
  })
}
