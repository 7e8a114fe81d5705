import t from 'tap'
import { createRangeCheck, isProxyRange } from '../../src/access/proxy-range.ts'

t.test('finds addresses in ranges, in both notations of IPv4', async (t) => {
  const isProxy = createRangeCheck(
    ['198.51.100.7', '203.0.113.0/24', '2001:db8::/32', 'loopback', 'uniquelocal']
  )
  for (const address of [
    '198.51.100.7', '::ffff:198.51.100.7', '203.0.113.255', '2001:db8:1::1', '127.0.0.9', '::1', '10.1.2.3',
    '172.31.0.1', '192.168.0.1', 'fd00::2'
  ]) t.ok(isProxy(address), address)
  for (const address of [
    '198.51.100.8', '203.0.114.0', '2001:db9::1', '172.32.0.1', '169.254.0.1', 'fe80::1', '', 'localhost'
  ]) t.notOk(isProxy(address), address)
  t.ok(createRangeCheck(['linklocal'])('169.254.0.1'))
  t.notOk(createRangeCheck([])('127.0.0.1'))
})

t.test('every range that is accepted can be checked', async (t) => {
  for (const range of ['::/1', '0.0.0.0/1', 'fe80::1', '::ffff:10.0.0.1/128', 'loopback', '10.0.0.1/32']) {
    t.ok(isProxyRange(range), range)
    t.doesNotThrow(() => createRangeCheck([range]), range)
  }
})
