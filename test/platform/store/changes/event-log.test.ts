import t from 'tap'
import { createLocalEventLog } from '../../../../src/platform/store/changes/event-log.ts'
import { checkEventLog } from '../../../contracts/event-log-contract.ts'

checkEventLog(t, async (limits) => createLocalEventLog(limits))

t.test('the oldest streams are dropped when all streams together are too large', async (t) => {
  const log = createLocalEventLog({ maxEvents: 5, ttlMs: 60_000, maxBytes: 1000 })
  t.teardown(async () => await log.close())
  const text = 'x'.repeat(300)
  for (let stream = 0; stream < 100; stream++) await log.append(`s.${stream}`, { position: 1, text })
  const kept: number[] = []
  for (let stream = 0; stream < 100; stream++) {
    if (await log.read(`s.${stream}`, 0) !== undefined) kept.push(stream)
  }
  t.strictSame(kept, [97, 98, 99])
  for (let position = 1; position <= 50; position++) {
    await log.append('s.turning', { position, text: 'y'.repeat(150) })
  }
  const positions = (await log.read('s.turning', 0))?.map(({ position }) => position)
  t.strictSame(positions, [46, 47, 48, 49, 50], 'and dropped events do not count')
  t.ok(await log.read('s.99', 0) === undefined)
})
