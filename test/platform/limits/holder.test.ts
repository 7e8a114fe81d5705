import fc from 'fast-check'
import t from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { networkOf } from '../../../src/platform/limits/holder.ts'

const at = (address: string | undefined) => networkOf({ principal: ANONYMOUS, address })

t.test('an IPv4 address is a network of its own', async (t) => {
  t.equal(at('203.0.113.7'), '203.0.113.7')
  t.equal(at('10.0.0.1'), '10.0.0.1')
})

t.test('the network of an IPv6 address is its first half, in one notation', async (t) => {
  for (const address of [
    '2001:db8:0:1::', '2001:db8:0:1::7', '2001:0DB8:0000:0001:ffff:ffff:ffff:ffff',
    '2001:db8:0:1:0:0:1.2.3.4', '2001:db8:0:1::7%eth0'
  ]) {
    t.equal(at(address), '2001:db8:0:1::/64', address)
  }
  t.equal(at('2001:db8:0:2::7'), '2001:db8:0:2::/64')
  t.equal(at('1::'), '1:0:0:0::/64')
  t.equal(at('::2'), '0:0:0:0::/64')
  t.equal(at('::1:0:0:0:7'), '0:0:0:1::/64')
})

t.test('the addresses of one network, and no others, have the same name', async (t) => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((number) => number.toString(16))
  const half = fc.tuple(group, group, group, group).map((groups) => groups.join(':'))
  fc.assert(fc.property(half, half, half, half, (first, second, host, otherHost) => {
    // Else the addresses may be of this machine, or of IPv4.
    fc.pre(!first.startsWith('0:0:0:0') && !second.startsWith('0:0:0:0'))
    t.equal(at(`${first}:${host}`), at(`${first}:${otherHost}`))
    if (first !== second) t.not(at(`${first}:${host}`), at(`${second}:${host}`))
  }))
})

t.test('an IPv4 address within an IPv6 address is that IPv4 address', async (t) => {
  t.equal(at('::ffff:203.0.113.7'), '203.0.113.7')
  t.equal(at('::FFFF:cb00:7107'), '203.0.113.7')
  t.equal(at('0:0:0:0:0:ffff:203.0.113.7'), '203.0.113.7')
})

t.test('a port is left out', async (t) => {
  t.equal(at('203.0.113.7:8080'), '203.0.113.7')
  t.equal(at('[2001:db8:0:1::7]:8080'), '2001:db8:0:1::/64')
  t.equal(at('[2001:db8:0:1::7]'), '2001:db8:0:1::/64')
})

t.test('texts that are no address share one network', async (t) => {
  for (const text of [
    '', 'unknown', '_hidden', '1.2.3', '127.0.0.256', '127.0.0.1.evil', 'x'.repeat(100_000)
  ]) {
    t.equal(at(text), 'unknown', text.slice(0, 20))
  }
})

t.test('no share limits this machine, senders without an address, and principals with a name', async (t) => {
  for (const address of [
    undefined, '127.0.0.1', '127.255.1.2', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '127.0.0.1:80',
    '[::1]:80'
  ]) {
    t.equal(at(address), undefined, String(address))
  }
  const address = '203.0.113.7'
  t.equal(networkOf({ principal: { subject: 'ada', scopes: new Set() }, address }), undefined)
  t.equal(networkOf({ principal: { clientId: 'app', scopes: new Set() }, address }), undefined)
  t.equal(networkOf({ principal: { scopes: new Set(['read']) }, address }), address)
})

t.test('the address of a principal with a name is not read', async (t) => {
  t.equal(networkOf({
    principal: { subject: 'ada', scopes: new Set() },
    get address (): string { throw new Error('it was read') }
  }), undefined)
})
