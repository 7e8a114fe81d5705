import t from 'tap'
import { buildApp } from '../helpers/app.ts'
import { toolModule } from '../helpers/catalog-folder.ts'
import { send } from '../helpers/request.ts'

t.test('answers a string as a text block', async (t) => {
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a') })
  const { status, response } = await send(app, { method: 'tools/call', params: { name: 'a' } })
  t.equal(status, 200)
  t.match(response.result, { resultType: 'complete', content: [{ type: 'text', text: 'ok' }] })
})
