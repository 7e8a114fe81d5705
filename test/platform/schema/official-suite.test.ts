// The official test suite of JSON Schema, as Debian has it: that of draft-07. What draft-07 and 2020-12 have
// in common is checked in both dialects.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { isComplete } from '../../servers/programs.ts'

/** The Debian package json-schema-test-suite. */
const SUITE = '/usr/share/json-schema-test-suite/tests/draft7'
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'

interface Case { readonly description: string, readonly data: unknown, readonly valid: boolean }
interface Group {
  readonly description: string
  readonly schema: JsonSchema | boolean
  readonly tests: readonly Case[]
}

/** Whether a schema of the group refers to another place, or another `$id`: it is refused at its load. */
const isElsewhere = (name: string, { description }: Group) => (
  ['refRemote', 'definitions'].includes(name) || ELSEWHERE.has(description)
)
const ELSEWHERE = new Set(['remote ref, containing refs itself', 'Recursive references between schemas'])
/** Keywords beside `$ref` count in draft-07 too: authors who write them mean them. */
const IS_STRICTER = 'ref overrides any sibling keywords'
/** The meaning of these files is another one in 2020-12. */
const OTHER_IN_2020 = new Set(['additionalItems', 'items', 'dependencies', 'ref', 'default'])
/** 2020-12 has arrays of `items` under another name. */
const usesLists = (schema: unknown) => (
  /"items":\[|"additionalItems"|"dependencies"/.test(JSON.stringify(schema))
)

const { compile } = createSchemaCompiler({ useDefaults: false })

/** Schemas of primitives are objects. */
const toObject = (schema: JsonSchema | boolean): JsonSchema => (
  typeof schema === 'object' ? schema : { allOf: [schema] }
)

function check (t: Test, name: string, { description, schema, tests }: Group, dialect: JsonSchema): void {
  const accepts = compile({ ...dialect, ...toObject(schema) })
  for (const { description: claim, data, valid } of tests) {
    t.equal(accepts(data).ok, valid, `${name}, ${description}: ${claim}`)
  }
}

t.test('the official suite of JSON Schema holds', (t) => {
  const missing = existsSync(SUITE) ? [] : [SUITE]
  if (isComplete(t, missing, 'json-schema-test-suite')) checkAll(t)
  t.end()
})

function checkAll (t: Test): void {
  const names = readdirSync(SUITE).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5))
  t.ok(names.includes('contains') && names.length > 30)
  for (const name of names) {
    const groups: Group[] = JSON.parse(readFileSync(join(SUITE, `${name}.json`), 'utf8'))
    for (const group of groups.filter(({ description }) => description !== IS_STRICTER)) {
      if (isElsewhere(name, group)) {
        t.throws(() => compile({ $schema: DRAFT_07, ...toObject(group.schema) }), /references are never fetched/)
        continue
      }
      check(t, name, group, { $schema: DRAFT_07 })
      if (!OTHER_IN_2020.has(name) && !usesLists(group.schema)) check(t, name, group, {})
    }
  }
}
