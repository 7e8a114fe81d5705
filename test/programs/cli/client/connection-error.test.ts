import t from 'tap'
import {
  ConnectionError, toConnectionError, toStatusError
} from '../../../../src/programs/cli/client/connection-error.ts'

const failed = (cause: Error) => new TypeError('fetch failed', { cause })
const coded = (code: string) => Object.assign(new Error('raw words'), { code })

t.test('the cause within decides what to do, and an unknown one is quoted', async (t) => {
  const cases: ReadonlyArray<readonly [error: unknown, message: RegExp]> = [
    [failed(coded('ECONNREFUSED')), /^Cannot use u: nothing listens there; .* \(ECONNREFUSED\)$/],
    [failed(new AggregateError([coded('ECONNREFUSED'), coded('X')])), /nothing listens there/],
    [failed(coded('CERT_HAS_EXPIRED')), /its certificate has expired/],
    [failed(coded('SOMETHING')), /^Cannot use u: raw words$/],
    ['text', /^Cannot use u: text$/]
  ]
  for (const [error, message] of cases) t.match(toConnectionError('u', error).message, message)
  const same = new ConnectionError('said')
  t.equal(toConnectionError('u', same), same)
})

t.test('an HTTP error has its status, its message on one line, and what to do', async (t) => {
  const error = toStatusError('u', 401, 'a\u001b[2J\nb')
  t.equal(error.status, 401)
  t.match(error.message, /^Cannot use u: it answers 401: a \[2J b; give a valid access token/)
  t.equal(toStatusError('u', 500, undefined).message, 'Cannot use u: it answers 500')
})
