// Questions as single hosts need them.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { definitionsOf, readPublishedSchemas } from '../../helpers/published-schemas.ts'
import { toPost } from '../../helpers/request.ts'
import { checkSent } from '../../helpers/wire-schema.ts'

const FILES = {
  'tools/pay.ts': `
    import { defineTool, elicit } from 'trivet'
    const schema = { type: 'object', properties: { size: { type: 'string' } } }
    export default defineTool({ name: 'pay', description: 'A tool.', run: async (_, ctx) => {
      const { pay, size } = await ctx.ask({
        pay: elicit.url({ message: 'Pay', url: 'https://pay.example/1' }),
        size: elicit.form({ message: 'Which?', schema })
      })
      return pay.action + ' ' + size.action
    } })`
}
const PAY = { mode: 'url', message: 'Pay', url: 'https://pay.example/1' }
const COPILOT = 'copilot-cli'

t.test('a question by URL has an id of its own for a host that needs one, for no other (228)', async (t) => {
  const app = await buildApp(t, FILES)
  const call = async (name: string | undefined, answers = {}) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/mcp',
      ...toPost({
        method: 'tools/call',
        params: { name: 'pay', ...answers },
        meta: {
          'io.modelcontextprotocol/clientInfo': name === undefined ? undefined : { name, version: '1.0.102' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } }
        }
      })
    })
    return answer.json().result
  }
  for (const name of [undefined, 'test', 'constructor', `${COPILOT} `]) {
    t.strictSame((await call(name)).inputRequests.pay.params, PAY, `${name}`)
  }
  const ids = new Set<string>()
  for (let times = 0; times < 3; times++) {
    const result = await call(COPILOT)
    const { inputRequests: { pay, size } } = result
    const { elicitationId, ...params } = pay.params
    t.strictSame([pay.method, params], ['elicitation/create', PAY])
    t.match(elicitationId, /^[0-9a-f-]{36}$/)
    t.notOk('elicitationId' in size.params, 'a form has none')
    ids.add(elicitationId)
    const asOthers = { ...result, inputRequests: { size, pay: { ...pay, params } } }
    checkSent({ jsonrpc: '2.0', id: 1, result: asOthers }, '2026-07-28', 'tools/call')
  }
  t.equal(ids.size, 3)
  const { ElicitRequestURLParams: schema } = definitionsOf(readPublishedSchemas().get('2026-07-28') ?? {})
  t.equal(schema.additionalProperties, undefined, 'the schema allows further members')
  const answers = { pay: { action: 'accept' }, size: { action: 'decline' } }
  t.equal((await call(COPILOT, { inputResponses: answers })).content[0].text, 'accept decline')
})
