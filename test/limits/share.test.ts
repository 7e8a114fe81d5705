import t from 'tap'
import { shareOf, ShareUsed } from '../../src/limits/share.ts'

t.test('the share of a network is a tenth, that of a principal a half, rounded up', async (t) => {
  t.strictSame([1, 10, 11, 10_000].map((limit) => shareOf(limit)), [1, 1, 2, 1000])
  t.strictSame([1, 10, 11].map((limit) => shareOf(limit, 'principal')), [1, 5, 6])
})

t.test('the log names the network, its share, and the setting to change for a proxy', async (t) => {
  t.match(new ShareUsed('203.0.113.7', 1000).message, /^203\.0\.113\.7 .*: 1000\. .*TRIVET_TRUSTED_PROXIES$/)
})
