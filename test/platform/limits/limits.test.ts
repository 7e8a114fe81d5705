// The table of limits: what a holder's share is, and how its refusal reads.

import t from 'tap'
import { Limit, LIMITS, type LimitName } from '../../../src/platform/limits/limits.ts'
import { Used } from '../../../src/platform/limits/used.ts'

const ADA = { kind: 'principal', name: 'ada' } as const
const NETWORK = { kind: 'network', name: '203.0.113.7' } as const

const names = Object.keys(LIMITS).filter((name): name is LimitName => Object.hasOwn(LIMITS, name))

for (const name of names) {
  t.test(`${name}: one factory words its refusals, with its code`, async (t) => {
    const limit = new Limit(name, 20)
    const { code, things } = LIMITS[name]
    for (const [holder, whose, share] of [
      [undefined, '', LIMITS[name].per === 'principal' ? Infinity : 20],
      [ADA, ' of yours', LIMITS[name].per === 'principal' ? 20 : 10],
      [NETWORK, ' of your address', 2]
    ] as const) {
      const refusal = limit.refusal(holder?.kind ?? 'all')
      t.equal(refusal.name, 'ProtocolError')
      t.strictSame([refusal.code, refusal.httpStatus], [code, code])
      const place = '( (on|in) this \\w+)?'
      const text = new RegExp(`^Too many ${things}${whose}${place} \\(${share}\\)\\. .*\\.$`)
      t.match(refusal.message, text)
    }
    const { cause } = limit.refusal('network', NETWORK.name)
    t.match(cause, { message: /^203\.0\.113\.7 .*: 2\. .*TRIVET_TRUSTED_PROXIES$/ })
    t.equal(limit.refusal('principal').cause, undefined, 'the log needs no name of a principal')
  })
}

t.test('a network has a tenth of a limit, rounded up', async (t) => {
  const shares = [1, 10, 11, 10_000].map((max) => new Limit('streams', max).shareOf('network'))
  t.strictSame(shares, [1, 1, 2, 1000])
})

t.test('a principal has a half, and all of a limit that is its own', async (t) => {
  t.strictSame([1, 10, 11].map((max) => new Limit('streams', max).shareOf('principal')), [1, 5, 6])
  t.strictSame([1, 10, 11].map((max) => new Limit('tasks', max).shareOf('principal')), [1, 10, 11])
})

t.test('counts what each holder uses, and forgets who uses nothing', async (t) => {
  const used = new Used(new Limit('streams', 20))
  const ends = [used.add(NETWORK), used.add(NETWORK), used.add(ADA), used.add(undefined, 5)]
  t.strictSame([used.total, used.holders], [8, 2])
  t.match(used.findRefusal(NETWORK), { message: /of your address/ })
  t.equal(used.findRefusal(ADA), undefined)
  t.equal(used.findRefusal(undefined), undefined)
  const end = used.add(undefined, 12)
  t.match(used.findRefusal(ADA), { message: 'Too many open streams on this replica (20). Try again later.' })
  for (const one of [...ends, end]) one()
  t.strictSame([used.total, used.holders], [0, 0])
})
