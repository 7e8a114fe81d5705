// Which members of the arguments the audit log never keeps.

import t from 'tap'
import { toAuditRule } from '../../../src/catalog/compiled/definitions/audit-rule.ts'

const PASSWORD = { type: 'string', format: 'password' }

t.test('a property is secret if it, or a part of it that has no name, is one', async (t) => {
  const properties = {
    open: { type: 'string' },
    plain: PASSWORD,
    written: { type: 'string', writeOnly: true },
    list: { type: 'array', items: PASSWORD },
    tuple: { type: 'array', prefixItems: [{ type: 'string' }, PASSWORD] },
    either: { anyOf: [{ type: 'number' }, PASSWORD] },
    one: { oneOf: [PASSWORD] },
    all: { allOf: [{ minLength: 1 }, PASSWORD] },
    map: { type: 'object', additionalProperties: PASSWORD },
    named: { $ref: '#/$defs/a~1b' },
    deep: { type: 'array', items: { type: 'object', properties: { inner: PASSWORD, other: {} } } },
    endless: { $ref: '#/properties/endless' },
    elsewhere: { $ref: 'other.json#/x' },
    missing: { $ref: '#/$defs/none' }
  }
  const schema = { type: 'object', properties, $defs: { 'a/b': PASSWORD } }
  const { secretNames } = toAuditRule({ audit: 'values' }, Object.keys(properties), schema)
  t.strictSame([...secretNames].toSorted(), [
    'all', 'either', 'inner', 'list', 'map', 'named', 'one', 'plain', 'tuple', 'written'
  ])
  const output = { type: 'object', properties: { key: PASSWORD } }
  const both = toAuditRule({}, [], { type: 'object', properties: { one: PASSWORD } }, output)
  t.strictSame([...both.secretNames].toSorted(), ['key', 'one'], 'those of the result too')
})
