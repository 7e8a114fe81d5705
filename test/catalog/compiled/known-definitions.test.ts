import t from 'tap'
import { createSchemaCompilers } from '../../../src/catalog/compiled/definitions/compile-schema.ts'
import { createKnownDefinitions } from '../../../src/catalog/compiled/definitions/known-definitions.ts'

t.test('compiles a definition once for each setting, and again if it had a problem', async (t) => {
  const compilers = createSchemaCompilers()
  const known = createKnownDefinitions<object>(compilers)
  const problems: string[] = []
  const report = (_: string, rule: string) => problems.push(rule)
  const definition = {}
  const get = (setting: unknown, rule?: string) => known.get(definition, setting, report, (_, tell) => {
    if (rule !== undefined) tell('', rule)
    return { setting }
  })
  const refused = get(1, 'is wrong')
  t.strictSame(problems, ['is wrong'])
  const first = get(1)
  t.not(first, refused)
  t.equal(get(1), first)
  t.strictSame(get(2), { setting: 2 })
})

t.test('the compilers keep the checks of known definitions', async (t) => {
  const compilers = createSchemaCompilers()
  const known = createKnownDefinitions<object>(compilers)
  const schema = { type: 'string' }
  const definition = {}
  const get = () => known.get(definition, 0, () => {}, ({ input }) => ({ check: input.compile(schema) }))
  const first = get()
  for (let load = 0; load < 3; load++) {
    t.equal(get(), first)
    compilers.input.forgetUnused()
  }
  t.strictSame({ check: compilers.input.compile(schema) }, first, 'the same function')
})
