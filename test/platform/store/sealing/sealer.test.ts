import fc from 'fast-check'
import t from 'tap'
import { createSealer } from '../../../../src/platform/store/sealing/sealer.ts'

const NOW = 1_800_000_000_000
const now = () => NOW
const sealer = createSealer(['first secret', 'second secret'], { now })
const seal = (text: string, expiresAt = NOW + 1): string => {
  return sealer.seal('state', 'alice', Buffer.from(text), expiresAt)
}
const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array))

/** The sealed part of a token, with one bit inverted. */
function flipBit (token: string, bit: number): string {
  const [id = '', body = ''] = token.split('.')
  const sealed = Buffer.from(body, 'base64url')
  sealed.writeUInt8(sealed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  return `${id}.${sealed.toString('base64url')}`
}

t.test('a token opens to the sealed bytes (215)', async () => {
  fc.assert(fc.property(fc.string(), fc.string({ unit: 'binary' }), bytes, (purpose, bound, sealed) => {
    return sealer.open(purpose, bound, sealer.seal(purpose, bound, sealed, NOW + 1))?.equals(sealed) === true
  }))
})

t.test('no token with one bit turned opens (215, 218)', async (t) => {
  const token = seal('the state')
  const bits = Buffer.from(token.split('.')[1] ?? '', 'base64url').length * 8
  t.ok(bits > 300)
  for (let bit = 0; bit < bits; bit++) {
    if (sealer.open('state', 'alice', flipBit(token, bit)) !== undefined) t.fail(`bit ${bit}`)
  }
  const unchanged = flipBit(flipBit(token, 7), 7)
  t.equal(sealer.open('state', 'alice', unchanged)?.toString(), 'the state', 'the flipping spoils nothing')
})

t.test('invented tokens do not open, and do not throw (214)', async () => {
  const id = seal('').slice(0, 9)
  const madeUp = fc.oneof(
    fc.string(), fc.string({ unit: 'binary' }),
    bytes.map((made) => id + made.toString('base64url')), bytes.map((made) => made.toString('base64'))
  )
  const isRefused = (token: string) => sealer.open('state', 'alice', token) === undefined
  fc.assert(fc.property(madeUp, isRefused), { numRuns: 1000 })
})

t.test('a changed token does not open (215)', async () => {
  const token = seal('the state')
  const changed = fc.tuple(fc.nat(token.length), fc.nat(4), fc.string({ maxLength: 4 }))
    .map(([at, removed, added]) => token.slice(0, at) + added + token.slice(at + removed))
    .filter((made) => made !== token)
  const isRefused = (made: string) => sealer.open('state', 'alice', made) === undefined
  fc.assert(fc.property(changed, isRefused), { numRuns: 1000 })
})

t.test('another spelling of the same bytes does not open (218)', async (t) => {
  // 6 + 12 + 16 bytes and one more: the last character has unused bits, so a lenient decoder accepts several.
  const token = seal('x')
  const last = token.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const twin = token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(last) + 1)
  const decode = (text: string) => Buffer.from(text.slice(9), 'base64url')
  t.same(decode(twin), decode(token), 'the twin decodes to the same bytes')
  const spellings = [`${token}=`, `${token} `, `${token}\n`, ` ${token}`, `${token}-TAMPERED`, `${token}.`]
  for (const made of [twin, ...spellings, token.replace('.', '..')]) {
    t.equal(sealer.open('state', 'alice', made), undefined, made)
  }
  t.ok(sealer.open('state', 'alice', token))
})

t.test('does not open for another purpose or another binding (216)', async (t) => {
  const token = seal('x')
  t.equal(sealer.open('session', 'alice', token), undefined)
  t.equal(sealer.open('state', 'bob', token), undefined)
  t.equal(sealer.open('statea', 'lice', token), undefined)
  const halves = sealer.seal('state', 'a\ud800', Buffer.from('x'), NOW + 1)
  t.equal(sealer.open('state', 'a\ufffd', halves), undefined, 'nor for one that only looks the same as UTF-8')
  t.ok(sealer.open('state', 'a\ud800', halves))
})

t.test('does not open from the moment that it expires (216)', async (t) => {
  t.ok(sealer.open('state', 'alice', seal('x', NOW + 1)))
  t.equal(sealer.open('state', 'alice', seal('x', NOW)), undefined)
  t.equal(sealer.open('state', 'alice', seal('x', NOW - 1)), undefined)
})

t.test('seals the same bytes to another token each time (235)', async (t) => {
  t.equal(new Set(Array.from({ length: 100 }, () => seal('x'))).size, 100)
})

t.test('hides what it seals, and the secret', async (t) => {
  const token = seal('the state')
  const sealed = Buffer.from(token.slice(9), 'base64url')
  for (const hidden of ['the state', 'first secret', 'alice']) {
    t.notOk(token.includes(hidden) || sealed.includes(hidden), hidden)
  }
  t.match(token, /^[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]+$/)
})

t.test('the first secret seals and all of them open, so that secrets can be replaced', async (t) => {
  const [old, both, young] = [['old'], ['young', 'old'], ['young']]
    .map((secrets) => createSealer(secrets, { now }))
  const open = (by: typeof old, token: string | undefined) => by?.open('p', '', token ?? '')?.toString()
  const sealedBy = (by: typeof old) => by?.seal('p', '', Buffer.from('x'), NOW + 1)
  t.equal(open(both, sealedBy(old)), 'x')
  t.equal(open(young, sealedBy(both)), 'x')
  t.equal(open(old, sealedBy(both)), undefined)
  t.equal(open(young, sealedBy(old)), undefined)
})

t.test('refuses an empty list of secrets, and an empty secret', async (t) => {
  for (const secrets of [[], [''], ['good', '']]) t.throws(() => createSealer(secrets), /at least one secret/)
})

t.test('without secrets it uses a random one, and reports that once, at the first seal', async (t) => {
  let said = 0
  const alone = createSealer(undefined, { now, onEphemeral: () => { said++ } })
  t.equal(alone.open('p', '', 'x'), undefined)
  t.equal(said, 0)
  const token = alone.seal('p', '', Buffer.from('x'), NOW + 1)
  alone.seal('q', '', Buffer.from('x'), NOW + 1)
  t.equal(said, 1)
  t.equal(alone.open('p', '', token)?.toString(), 'x')
  const other = createSealer(undefined, { now })
  t.equal(other.open('p', '', token), undefined, 'another process does not know it')
  createSealer(['s'], { onEphemeral: () => { said++ } }).seal('p', '', Buffer.from('x'), NOW + 1)
  t.equal(said, 1, 'and nothing is said where there are secrets')
})
