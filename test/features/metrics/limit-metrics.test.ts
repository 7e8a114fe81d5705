// What limits have refused, in the metrics.

import t from 'tap'
import { buildMetered, linesOf } from '../../helpers/admin.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { send } from '../../helpers/request.ts'

t.test('counts the calls that a limit refused, by kind of limit', async (t) => {
  const { app, readMetrics } = await buildMetered(t, {
    'server.yaml': 'limits:\n  allCalls: 5/1h\n',
    'tools/rare.ts': toolModule('rare', "limits: { calls: '1/1h' }"),
    'tools/alone.ts': toolModule(
      'alone', 'limits: { allRunning: 1 }', "() => new Promise((resolve) => setTimeout(resolve, 50, 'ok'))"
    )
  })
  const call = async (name: string) => await send(app, { method: 'tools/call', params: { name } })
  t.strictSame(linesOf(await readMetrics(), 'trivet_limit_hits_total'), [])
  await call('rare')
  await call('rare')
  await Promise.all([call('alone'), call('alone'), call('alone')])
  for (let count = 0; count < 5; count++) await call('alone')
  t.strictSame(linesOf(await readMetrics(), 'trivet_limit_hits_total').toSorted(), [
    'trivet_limit_hits_total{limit="rate",callers="all",tools="all"} 2',
    'trivet_limit_hits_total{limit="rate",callers="one",tools="one"} 1',
    'trivet_limit_hits_total{limit="running",callers="all",tools="one"} 2'
  ])
})
