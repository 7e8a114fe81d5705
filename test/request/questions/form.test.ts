import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import t from 'tap'
import { Forms } from '../../../src/request/questions/form.ts'

const schemaOf = (maximum: number) => ({ type: 'object', properties: { n: { type: 'integer', maximum } } })

t.test('equal schemas are one form, compiled once (225)', async (t) => {
  const forms = new Forms()
  t.equal(forms.of(schemaOf(1)), forms.of(schemaOf(1)))
  t.not(forms.of(schemaOf(1)), forms.of(schemaOf(2)))
})

t.test('the number of compiled schemas has a limit', async (t) => {
  const forms = new Forms()
  const first = forms.of(schemaOf(0))
  for (let n = 1; n < 256; n++) forms.of(schemaOf(n))
  t.equal(forms.of(schemaOf(0)), first, 'kept below the limit')
  forms.of(schemaOf(256))
  t.not(forms.of(schemaOf(0)), first, 'dropped at the limit')
  t.same(forms.of(schemaOf(0)), { ...first, check: forms.of(schemaOf(0)).check })
  t.equal((await first.check({ n: 1 })).ok, false, 'a dropped form still checks')
  t.equal((await forms.of(schemaOf(0)).check({ n: 0 })).ok, true)
})

t.test('a schema of a library is converted once, however often it is asked', async (t) => {
  let converted = 0
  const input = () => {
    converted++
    return schemaOf(1)
  }
  const schema: StandardSchemaV1 & StandardJSONSchemaV1 = {
    '~standard': {
      version: 1, vendor: 'test', validate: (value) => ({ value }), jsonSchema: { input, output: input }
    }
  }
  const forms = new Forms()
  t.equal(forms.of(schema), forms.of(schema))
  t.equal(converted, 1)
})
