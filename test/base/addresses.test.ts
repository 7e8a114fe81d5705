// Which addresses a request may have.

import t from 'tap'
import { isInside, isReachable } from '../../src/base/addresses.ts'

const PRIVATE = [
  '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '127.0.0.1', '127.255.255.254', '100.64.0.1',
  '::1',
  'fc00::1', 'fdff::1', '::ffff:10.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:127.0.0.1', '[::1]',
  '64:ff9b::10.0.0.1',
  '64:ff9b::7f00:1', '198.18.0.1', '192.0.2.1', '240.0.0.1', '2001:db8::1', '2002:7f00:1::', '::7f00:1',
  'fec0::1', '::ffff:0:10.0.0.1', '::ffff:0:8.8.8.8', '64:ff9b:1::10.0.0.1', '64:ff9b:1::8.8.8.8',
  '2002:808:808::', '2001:0:808:808::f7f7:f7f7', '5f00::1', '100::1', '100:0:0:1::1', '::8.8.8.8'
]
const NEVER = [
  '0.0.0.0', '0.1.2.3', '169.254.169.254', '169.254.1.1', '::ffff:169.254.169.254',
  '64:ff9b::169.254.169.254',
  '224.0.0.1', '239.255.255.255', '255.255.255.255', 'fe80::1', 'fe80::1%eth0', 'ff02::1', '::',
  'fd00:ec2::254', 'fd00:ec2::23', 'fd00:ec2:ffff::1',
  '100.100.100.200', '168.63.129.16', '192.0.0.192', '64:ff9b::', '::ffff:0.0.0.0',
  // The address of a cloud's metadata within addresses of translators and tunnels.
  '::169.254.169.254', '::ffff:0:169.254.169.254', '::ffff:0:a9fe:a9fe', '2002:a9fe:a9fe::',
  '2002:a9fe:a9fe::1', '64:ff9b:1::169.254.169.254', '64:ff9b:1:a9fe:a9:fe00::', '64:ff9b:1:a9:fe:a9fe::',
  '64:ff9b:1:0:a9:fea9:fe00::', '2001:0:a9fe:a9fe::',
  '2001:0:4136:e378:8000:63bf:5601:5601', '64:ff9b:1::100.100.100.200'
]
const PUBLIC = [
  '8.8.8.8', '93.184.215.14', '172.15.0.1', '172.32.0.1', '100.63.255.255', '100.128.0.1', '2606:4700::1111',
  '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '64:ff9b::808:808', '[2606:4700::1111]', 'crm.example.com',
  'localhost.example'
]

t.test('tells public, private and forbidden addresses apart', (t) => {
  const both = (host: string) => [isReachable(host, false), isReachable(host, true)]
  for (const host of PUBLIC) t.strictSame(both(host), [true, true], host)
  for (const host of PRIVATE) t.strictSame(both(host), [false, true], host)
  for (const host of NEVER) t.strictSame(both(host), [false, false], host)
  t.end()
})

t.test('an address within another is of the private network that it leads to', (t) => {
  const inside = [
    '[::ffff:0:10.0.0.1]', '[64:ff9b::a00:1]', '[2002:a00:1::]', '[::ffff:10.0.0.1]', '[::1]'
  ]
  for (const host of inside) t.ok(isInside(host), host)
  for (const host of ['[64:ff9b::808:808]', '[2002:808:808::]', '[2606:4700::1111]']) {
    t.notOk(isInside(host), host)
  }
  t.end()
})
