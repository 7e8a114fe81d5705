// Tools with `dedupe` in sessions: ids are unique in their session.

import t from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import { toolModule } from '../../../helpers/catalog-folder.ts'
import { openSession } from '../../../helpers/session.ts'

t.test('a repeated id of a session gets the first answer, another session has its own ids', async (t) => {
  const url = await listen(await buildApp(t, {
    'tools/counts.ts': 'let runs = 0\n' + toolModule(
      'counts', "annotations: { idempotentHint: true }, dedupe: true, inputSchema: { type: 'object' }",
      '() => String(++runs)'
    )
  }))
  const one = await openSession(t, url)
  const other = await openSession(t, url)
  const call = async (session: typeof one, args = {}) => (
    (await session.call('counts', args, { id: 5 })).result.content[0].text
  )
  t.equal(await call(one), '1')
  t.equal(await call(one), '1')
  t.equal(await call(one, { a: 1 }), '2', 'with other arguments it is another call')
  t.equal(await call(other), '3')
})
