import t from 'tap'
import { StacklessError } from '../../../src/base/stackless-error.ts'
import { AuthenticationError } from '../../../src/platform/access/authentication.ts'
import * as errors from '../../../src/platform/protocol/errors.ts'
import { SUPPORTED_REVISIONS } from '../../../src/platform/protocol/revisions.ts'

const {
  ProtocolError, ResourceNotFound, ResourceTooLarge, InsufficientScope, LimitReached, TokenExpired,
  TaskNotReadable, UnknownTask, INTERNAL_ERROR, MISSING_CLIENT_CAPABILITY,
  EarlierFailure, ...factories
} = errors

// Section D of the checklist: each error with its code and its HTTP status.
const table: ReadonlyArray<readonly [
  factory: keyof typeof factories, error: errors.ProtocolError, code: number, httpStatus: number
]> = [
  ['parseError', errors.parseError(new Error('x')), -32700, 400],
  ['invalidRequest', errors.invalidRequest('x'), -32600, 400],
  ['methodNotFound', errors.methodNotFound('x'), -32601, 404],
  ['invalidParams', errors.invalidParams('x'), -32602, 200],
  ['invalidEnvelope', errors.invalidEnvelope('x'), -32602, 400],
  ['unknownTool', errors.unknownTool('x', []), -32602, 200],
  ['invalidCursor', errors.invalidCursor(), -32602, 200],
  ['unknownPrompt', errors.unknownPrompt('x'), -32602, 200],
  ['insufficientScope', errors.insufficientScope(['a', 'b']), 403, 403],
  ['tokenExpired', errors.tokenExpired(), -32600, 401],
  ['resourceNotFound', errors.resourceNotFound('x:y'), -32602, 200],
  ['resourceTooLarge', errors.resourceTooLarge('x:y', 2, 1), -32602, 200],
  ['internalError', errors.internalError(new Error('x'), 'r1'), -32603, 200],
  ['handlerRefused', errors.handlerRefused(new Error('x')), 422, 200],
  ['stateUnavailable', errors.stateUnavailable(new Error('x')), 503, 200],
  ['sessionNotFound', errors.sessionNotFound(), -32600, 404],
  ['replicaLost', errors.replicaLost(), -32603, 200],
  ['requestTimedOut', errors.requestTimedOut(1), -32603, 200],
  ['requestCancelled', errors.requestCancelled(), -32603, 200],
  ['headerMismatch', errors.headerMismatch('x'), -32020, 400],
  ['missingClientCapability', errors.missingClientCapability({ sampling: {} }), -32021, 400],
  ['unsupportedRevision', errors.unsupportedRevision('x'), -32022, 400],
  ['handshakeRefused', errors.handshakeRefused('x'), -32022, 400],
  ['limitReached', errors.limitReached('x', 429, 1), 429, 429],
  ['argumentsTooLarge', errors.argumentsTooLarge('x'), 413, 413],
  ['resultTooLarge', errors.resultTooLarge('x'), 422, 422],
  ['overloaded', errors.overloaded('x'), 503, 503],
  ['answerDropped', errors.answerDropped(), 503, 500],
  ['batchTooLarge', errors.batchTooLarge(), 503, 503],
  ['unknownTask', errors.unknownTask(), -32602, 200],
  ['taskAnswersTooLarge', errors.taskAnswersTooLarge(1), 413, 413],
  ['tooManyQuestions', errors.tooManyQuestions(1), 429, 429],
  ['taskExpired', errors.taskExpired(1), -32603, 200],
  ['taskInterrupted', errors.taskInterrupted('x'), -32603, 200],
  ['taskPoisoned', errors.taskPoisoned(5), -32603, 200],
  ['taskChanged', errors.taskChanged('x'), -32603, 200],
  ['taskOutdated', errors.taskOutdated(), -32603, 200],
  ['taskNotReadable', errors.taskNotReadable(), 503, 200]
]

for (const [factory, error, code, httpStatus] of table) {
  t.test(`${factory} is ${code} with HTTP ${httpStatus}`, async (t) => {
    t.equal(error.code, code)
    t.equal(error.httpStatus, httpStatus)
    t.ok(error instanceof ProtocolError && error instanceof Error)
    t.ok(error.message.length > 0)
    t.equal(error instanceof ResourceNotFound, factory === 'resourceNotFound')
    t.equal(error instanceof ResourceTooLarge, factory === 'resourceTooLarge')
    t.equal(error instanceof InsufficientScope, factory === 'insufficientScope')
    t.equal(error instanceof TokenExpired, factory === 'tokenExpired')
  })
}

t.test('a limit of all callers is 503, and says when to try again', async (t) => {
  const { code, httpStatus, message, data } = errors.limitReached('Too many.', 503, 1)
  t.strictSame([code, httpStatus, message], [503, 503, 'Too many. Try again in 1 second.'])
  t.strictSame(data, { retryAfterSeconds: 1 })
})

t.test('only an internal error has a stack, and other errors keep theirs', async (t) => {
  const hasFrames = (error: Error) => / at .*errors\.test\.ts/.test(error.stack ?? '')
  const cause = new Error('x')
  for (const error of [errors.replicaLost(), errors.internalError(cause, 'r1'), errors.taskOutdated()]) {
    t.ok(hasFrames(error), error.message)
  }
  const refused = new AuthenticationError('invalid_token', 'the JWT is not valid')
  for (const error of [
    errors.invalidParams('x'), errors.limitReached('x', 429, 1), errors.unknownTask(), refused
  ]) {
    t.notOk(hasFrames(error), error.message)
    t.match(error.stack, error.message)
  }
  t.ok(hasFrames(new Error('after them')))
})

t.test('stacks come back after an error that cannot be made', async (t) => {
  const { stackTraceLimit } = Error
  const options = { get cause (): unknown { throw new Error('no cause') } }
  t.throws(() => new StacklessError('x', options), /no cause/)
  t.equal(Error.stackTraceLimit, stackTraceLimit)
})

t.test('errors are made where a program has made the length of stacks constant', async (t) => {
  const { stackTraceLimit } = Error
  Object.defineProperty(Error, 'stackTraceLimit', { writable: false })
  t.teardown(() => { Object.defineProperty(Error, 'stackTraceLimit', { writable: true }) })
  t.equal(errors.methodNotFound('x').code, -32601)
  t.equal(Error.stackTraceLimit, stackTraceLimit)
})

t.test('every factory is in the table above', async (t) => {
  t.same(table.map(([factory]) => factory).sort(), Object.keys(factories).sort())
})

t.test('uses no reserved code that the specification does not define (68, 69, 70, 71)', async (t) => {
  const defined = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]
  for (const [factory, { code }] of table) {
    t.ok(defined.includes(code) || code < -32768 || code > -32000, factory)
  }
})

t.test('names what was not found, cut and on one line (122, 155)', async (t) => {
  t.equal(errors.unknownTool('serch', ['search']).message, 'Tool serch not found. Did you mean search?')
  t.equal(errors.unknownTool('a\n\u202eb', []).message, 'Tool a  b not found')
  t.equal(errors.unknownTool('x'.repeat(65_536), []).message.length, 'Tool … not found'.length + 100)
  t.equal(errors.resourceNotFound('x:y').message, 'Resource not found: x:y')
  t.equal(errors.resourceNotFound('x'.repeat(9000)).message.length, 'Resource not found: …'.length + 200)
})

t.test('resourceNotFound names the resource (155)', async (t) => {
  t.same(errors.resourceNotFound('x:y').data, { uri: 'x:y' })
})

t.test('missingClientCapability names the capability, as a capabilities object (90)', async (t) => {
  const { data, message } = errors.missingClientCapability({ sampling: { tools: {} } })
  t.same(data, { requiredCapabilities: { sampling: { tools: {} } } })
  t.match(message, /sampling/)
})

t.test('unsupportedRevision names the supported revisions and the requested one (81)', async (t) => {
  t.same(errors.unsupportedRevision('1999-01-01').data, {
    supported: SUPPORTED_REVISIONS, requested: '1999-01-01'
  })
})

t.test('internalError keeps the cause for the log and out of the message', async (t) => {
  const cause = new Error('the database is down')
  const error = errors.internalError(cause, 'r1')
  t.equal(error.code, INTERNAL_ERROR)
  t.equal(error.cause, cause)
  t.equal(error.message, 'Internal error')
  t.strictSame(error.data, { requestId: 'r1' })
})
