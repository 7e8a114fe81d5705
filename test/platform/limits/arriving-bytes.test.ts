// Bodies that arrive, and which of them give way.

import t from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { countArrivingBytes } from '../../../src/app/http.ts'
import { ArrivingBytes } from '../../../src/platform/limits/arriving-bytes.ts'
import { Limit } from '../../../src/platform/limits/limits.ts'
import type { ProtocolError } from '../../../src/platform/protocol/errors.ts'

const open = (max = 1000, bytes = new ArrivingBytes(new Limit('arrivingBytes', max))) => {
  const refused: Array<readonly [name: string, refusal: ProtocolError]> = []
  const begin = (name: string, address?: string, principal = ANONYMOUS) => bytes.open(
    { principal, address }, (refusal) => refused.push([name, refusal])
  )
  return { bytes, refused, begin, names: () => refused.map(([name]) => name) }
}

const addressOf = (number: number) => `2001:db8:${(number >> 8).toString(16)}:${(number & 255).toString(16)}::1`

t.test('one network may use all of the limit while nobody else needs it', (t) => {
  const { bytes, begin, names } = open()
  for (let count = 0; count < 10; count++) begin('a', '203.0.113.7').add(100)
  t.equal(bytes.total, 1000)
  t.strictSame(names(), [])
  t.end()
})

t.test('beyond the limit the oldest body of the heaviest network is refused, and told why', (t) => {
  const { bytes, refused, begin, names } = open()
  begin('oldest', '203.0.113.7').add(500)
  begin('newer', '203.0.113.7').add(400)
  begin('other', '203.0.113.8').add(200)
  t.strictSame(names(), ['oldest'])
  t.equal(bytes.total, 600)
  const [, refusal] = refused[0] ?? []
  t.match(refusal, { httpStatus: 503, cause: { message: /^203\.0\.113\.7 has reached .*TRIVET_TRUSTED_PROXIES/ } })
  const share = 'Too many bytes of arriving bodies of your address on this replica (100).'
  t.equal(refusal?.message, `${share} Send one at a time.`)
  t.end()
})

t.test('a small body is never refused because of large ones of others', (t) => {
  const { begin, names } = open(100_000)
  for (let network = 0; network < 100; network++) begin('large', `198.51.100.${network}`).add(1000)
  for (let count = 0; count < 500; count++) begin('small', `203.0.113.${count % 250}`).add(100)
  t.notOk(names().includes('small'))
  t.ok(names().length >= 40)
  t.end()
})

t.test('many networks within their shares do not keep out a larger body', (t) => {
  const { bytes, begin, names } = open(100_000)
  for (let network = 0; network < 400; network++) begin('part', addressOf(network)).add(250)
  const honest = begin('honest', '203.0.113.7')
  for (let piece = 0; piece < 9; piece++) honest.add(1000)
  t.strictSame(new Set(names()), new Set(['part']))
  t.equal(names().length, 36, 'no more give way than must')
  t.equal(bytes.total, 100_000)
  for (let network = 500; network < 700; network++) begin('renewed', addressOf(network)).add(250)
  t.notOk(names().includes('honest'), 'the older bodies give way first')
  honest.complete()
  t.end()
})

t.test('a principal has five times the share of a network', (t) => {
  const { begin, names } = open()
  const ada = { ...ANONYMOUS, subject: 'ada' }
  begin('ada', '203.0.113.9', ada).add(500)
  begin('network', '203.0.113.7').add(300)
  begin('ada', '203.0.113.9', ada).add(300)
  t.strictSame(names(), ['network'])
  t.end()
})

t.test('a body that has come whole is not refused, and counts until it is closed', (t) => {
  const { bytes, begin, names } = open()
  const whole = begin('whole', '203.0.113.7')
  whole.add(900)
  whole.complete()
  const next = begin('next', '203.0.113.8')
  next.add(200)
  t.strictSame(names(), ['next'])
  t.equal(bytes.total, 900)
  whole.close()
  whole.close()
  next.close()
  next.add(50)
  t.equal(bytes.total, 0, 'each byte is freed once')
  t.end()
})

t.test('a body that is larger than the limit is refused by itself', (t) => {
  const { bytes, begin, names } = open()
  begin('a').add(1001)
  t.strictSame([names(), bytes.total], [['a'], 0])
  t.end()
})

t.test('a refusal takes little CPU of CPU among 20,000 holders', (t) => {
  const { begin, refused } = open(2_000_000)
  for (let number = 0; number < 20_000; number++) begin('a', addressOf(number)).add(100)
  const before = process.cpuUsage()
  for (let number = 0; number < 20_000; number++) begin('b', addressOf(30_000 + number)).add(100)
  const { user, system } = process.cpuUsage(before)
  t.equal(refused.length, 20_000)
  t.ok((user + system) / 20_000 < 100, `${(user + system) / 20_000} µs`)
  t.end()
})

t.test('one body of the largest size is within its share, however many workers there are', (t) => {
  const maxBodyBytes = 1_048_576
  for (const workerCount of [1, 16, 1000]) {
    const { bytes, begin, names } = open(0, countArrivingBytes({ workerCount, maxBodyBytes }))
    for (let network = 0; network < 450; network++) begin('part', addressOf(network)).add(163_840)
    const honest = begin('honest', '203.0.113.7')
    // Each piece takes memory beside its bytes.
    for (let piece = 0; piece < 16; piece++) honest.add(66_304)
    t.strictSame([...new Set(names())], ['part'], `${workerCount} workers`)
    t.ok(bytes.total > maxBodyBytes)
  }
  t.end()
})
