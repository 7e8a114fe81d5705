import t from 'tap'
import { readBearerToken } from '../../../src/platform/access/token.ts'

t.test('the token follows the scheme, in upper or lower case (261)', async (t) => {
  t.equal(readBearerToken('Bearer abc.DEF-1_2~3+4/5=='), 'abc.DEF-1_2~3+4/5==')
  t.equal(readBearerToken('bearer abc'), 'abc')
  t.equal(readBearerToken('BEARER  abc '), 'abc')
})

t.test('a request without a header, or with another scheme, has no token (261)', async (t) => {
  for (const header of [undefined, '', 'Basic YTpi', 'DPoP abc', 'Bearerabc', 'Bearer-x a', 'xBearer abc']) {
    t.equal(readBearerToken(header), undefined, String(header))
  }
})

t.test('a malformed header is an invalid request, so that it is answered with 400 (270)', async (t) => {
  for (const header of [
    'Bearer', 'Bearer ', 'Bearer a b', 'Bearer a\tb', 'Bearer token="abc" x', 'Bearer\tabc', 'Bearer: abc',
    'Bearer:abc', 'Bearer=abc', 'bearer,abc'
  ]) {
    t.throws(() => readBearerToken(header), { name: 'AuthenticationError', code: 'invalid_request' }, header)
  }
})

t.test('a malformed or endless token is invalid, and not part of the error (263, 273)', async (t) => {
  for (const token of ['sëcret', 'secret,secret', '=secret', 'sec=ret', 's'.repeat(16 * 1024 + 1)]) {
    t.throws(() => readBearerToken(`Bearer ${token}`), {
      name: 'AuthenticationError', code: 'invalid_token', message: /^(?!.*(?:s.cret|sec=ret|ssss))/
    }, token.slice(0, 20))
  }
  t.equal(readBearerToken(`Bearer ${'s'.repeat(16 * 1024)}`)?.length, 16 * 1024)
})
