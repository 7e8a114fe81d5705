import t from 'tap'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { redact } from '../../../src/features/audit/redaction.ts'

const NONE: ReadonlySet<string> = new Set()
const SECRET = 'canary4711'
const ID = 'A'.repeat(21)

t.test('no value of a member with a secret-like name is kept', (t) => {
  const names = [
    'password', 'Password', 'userPassword', 'user_password', 'db-password', 'PASSWD', 'passphrase',
    'passcode', 'pwd', 'pass', 'db_pass', 'secret', 'clientSecret', 'client_secret', 'token', 'accessToken',
    'refresh_token', 'id-token', 'csrfToken', 'apiKey', 'api_key', 'API-KEY', 'apikey', 'x-api-key',
    'accessKey', 'aws_access_key', 'privateKey', 'private_key', 'signing-key', 'encryptionKey', 'masterKey',
    'authorization', 'Authorisation', 'auth', 'credential', 'credentials', 'cookie', 'Set-Cookie',
    'session', 'sessionId', 'mcp-session-id', 'signature', 'jwt', 'bearer', 'otp', 'totp', 'mfa', 'pin',
    'cardPin', 'cvv', 'CVC', 'cardNumber', 'card_number', 'securityCode', 'one-time-code', 'recovery_code',
    'ssn', 'iban'
  ]
  for (const name of names) {
    const kept = JSON.stringify(redact({ [name]: SECRET, deep: [{ [name]: { a: [SECRET] } }] }, NONE))
    t.notMatch(kept, SECRET, name)
    t.match(kept, `"${name}":"[redacted]"`)
  }
  t.end()
})

t.test('members of other names are kept', (t) => {
  const args = {
    query: 'red shoes',
    opinion: 'good',
    passenger: 'Ada',
    compass: 'north',
    author: 'Ann',
    authored: true,
    spinner: 1,
    key: 'title',
    none: null,
    list: [1, 'two', { three: false }]
  }
  t.strictSame(redact(args, NONE), args)
  t.end()
})

t.test('the definition can name more secrets', (t) => {
  t.strictSame(
    redact({ diagnosis: 'x', visit: { diagnosis: ['y'], on: 'Monday' } }, new Set(['diagnosis'])),
    { diagnosis: '[redacted]', visit: { diagnosis: '[redacted]', on: 'Monday' } }
  )
  t.end()
})

t.test('texts that are secrets are not kept under any name', (t) => {
  const texts = {
    'a handle': `basket_${ID}B`,
    'a handle in a text': `in bsk_${ID}- please`,
    'a request state': createSealer([SECRET]).seal('any', '', Buffer.alloc(0), 1),
    'a link to a file': `https://a/mcp/files/${createSealer([SECRET]).seal('any', '', Buffer.alloc(99), 1)}`,
    'a link of a storage': `https://a/b?X-Amz-Signature=${SECRET}&x=1`,
    'a JSON Web Token': 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl',
    'an Authorization header': `Bearer ${SECRET}${SECRET}`,
    'another one': 'Basic dXNlcjpwYXNzd29yZA==',
    'a URL with a password': `postgres://ada:${SECRET}@db.example/shop`,
    'a private key': `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`,
    'a key of a payment service': `sk_live_${SECRET}`,
    'a key of a code host': `ghp_${SECRET}`,
    'a key of a cloud': 'AKIAIOSFODNN7EXAMPLE'
  }
  for (const [what, text] of Object.entries(texts)) {
    const kept = JSON.stringify(redact({ note: text, [text]: 1 }, NONE))
    t.match(kept, '[redacted]', what)
    t.notMatch(kept, new RegExp(`${SECRET}|${ID}|eyJ|dXNl|AKIA`), what)
  }
  const harmless = 'snake_case_names and other-words, a@b.example, https://a.example/b_c?d=e'
  t.equal(redact(harmless, NONE), harmless)
  t.end()
})

t.test('one request keeps at most about 8,192 characters, whatever it has', (t) => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`name ${i}`, i]))
  let deep: unknown = 'end'
  for (let i = 0; i < 5000; i++) deep = [deep]
  const large = {
    'a long text': 'a'.repeat(1_000_000), 'many members': wide, 'many items': Array(100_000).fill(1), deep
  }
  for (const [what, value] of Object.entries(large)) {
    const kept = JSON.stringify(redact({ value }, NONE))
    t.ok(kept.length < 60_000, `${what}: ${kept.length}`)
    t.ok(kept.includes('[cut]'), what)
  }
  t.end()
})

t.test('no secret is kept in part where a text is cut, or under a name of any length', (t) => {
  for (let before = 8150; before < 8200; before++) {
    const kept = JSON.stringify(redact(`${' '.repeat(before)}eyJ${SECRET}.${SECRET}.${SECRET}`, NONE))
    t.notOk(kept.includes('eyJ'), `after ${before} characters`)
  }
  t.strictSame(redact({ ['a'.repeat(257)]: SECRET }, NONE), { ['a'.repeat(257)]: '[redacted]' })
  t.end()
})

t.test('a cut is never inside a character', (t) => {
  for (const text of ['😀', '👩‍💻', '🇩🇪', 'e\u0301']) {
    const kept = `${'x'.repeat(8191)}${text.repeat(5)}`
    t.strictSame(redact(kept, NONE), `${'x'.repeat(8191)}[cut]`, text)
  }
  t.end()
})

// The patterns are linear in the length of a text, and no text is longer than the limit.
t.test('a text that is made to match slowly costs less than 20 ms', (t) => {
  const slow = ['a_'.repeat(4096), 'eyJ'.repeat(2730), 'eyJ.'.repeat(2048), '-----BEGIN '.repeat(744),
    '://'.repeat(2730), 'Bearer '.repeat(1170), 'sk_'.repeat(2730), '-eyJ'.repeat(4096)]
  for (const text of slow) {
    const start = process.cpuUsage()
    redact(text, NONE)
    const { user, system } = process.cpuUsage(start)
    t.ok(user + system < 20_000, `${text.slice(0, 12)}: ${user + system} µs`)
  }
  t.end()
})
