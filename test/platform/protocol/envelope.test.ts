import t from 'tap'
import { findMissingCapabilities } from '../../../src/platform/protocol/capabilities.ts'
import { readEnvelope } from '../../../src/platform/protocol/envelope.ts'
import { isAtLeast, isLogLevel, LOG_LEVELS } from '../../../src/platform/protocol/log-levels.ts'
import { isSupportedRevision, SUPPORTED_REVISIONS } from '../../../src/platform/protocol/revisions.ts'
import { META } from '../../helpers/request.ts'

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

t.test('reads the reserved fields', async (t) => {
  t.same(readEnvelope({ _meta: { ...META, [LOG_LEVEL]: 'warning', progressToken: 'p' } }), {
    revision: '2026-07-28',
    clientCapabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
    logLevel: 'warning',
    progressToken: 'p'
  })
})

t.test('accepts an envelope without client info (79)', async (t) => {
  t.equal(readEnvelope({ _meta: { ...META, [CLIENT_INFO]: undefined } }).clientInfo, undefined)
})

t.test('reads an unknown revision: a later check refuses it (81)', async (t) => {
  t.equal(readEnvelope({ _meta: { ...META, [PROTOCOL_VERSION]: '1999-01-01' } }).revision, '1999-01-01')
})

t.test('keeps unknown capabilities: the set is open (92)', async (t) => {
  const capabilities = { roots: { listChanged: true }, 'x.example/y': {} }
  t.same(readEnvelope({ _meta: { ...META, [CLIENT_CAPABILITIES]: capabilities } }).clientCapabilities,
    capabilities)
})

const malformed: ReadonlyArray<readonly [claim: string, meta: unknown, message: RegExp]> = [
  ['no _meta', undefined, /_meta is missing/],
  ['_meta that is not an object', 'x', /_meta is missing/],
  ['_meta that is a list', [], /_meta is missing/],
  ['no protocol version', { ...META, [PROTOCOL_VERSION]: undefined }, /protocolVersion/],
  ['a protocol version that is not a string', { ...META, [PROTOCOL_VERSION]: 20260728 }, /protocolVersion/],
  ['no client capabilities', { ...META, [CLIENT_CAPABILITIES]: undefined }, /clientCapabilities/],
  ['client capabilities in a list', { ...META, [CLIENT_CAPABILITIES]: [] }, /clientCapabilities/],
  ['null client capabilities', { ...META, [CLIENT_CAPABILITIES]: null }, /clientCapabilities/]
]

for (const [claim, _meta, message] of malformed) {
  t.test(`refuses ${claim} as malformed, with a 400 (78)`, async (t) => {
    t.throws(() => readEnvelope({ _meta }), { code: -32602, httpStatus: 400, message })
  })
}

t.test('refuses a request without params as malformed (78)', async (t) => {
  t.throws(() => readEnvelope(undefined), { code: -32602, httpStatus: 400 })
})

t.test('refuses an unknown log level (252)', async (t) => {
  for (const level of ['warn', 'DEBUG', '', 3, null]) {
    t.throws(() => readEnvelope({ _meta: { ...META, [LOG_LEVEL]: level } }), {
      code: -32602, message: /must be one of debug, info/
    })
  }
})

t.test('refuses a progress token that is neither a string nor an integer', async (t) => {
  for (const progressToken of [1.5, true, null, {}]) {
    t.throws(() => readEnvelope({ _meta: { ...META, progressToken } }), { code: -32602 })
  }
  for (const progressToken of ['', 0, -1]) {
    t.equal(readEnvelope({ _meta: { ...META, progressToken } }).progressToken, progressToken)
  }
})

t.test('refuses client info without a name and a version', async (t) => {
  for (const info of ['x', null, [], {}, { name: 'x' }, { name: 'x', version: 1 }]) {
    t.throws(() => readEnvelope({ _meta: { ...META, [CLIENT_INFO]: info } }), {
      code: -32602, message: /"name" and "version"/
    })
  }
})

t.test('orders the log levels as RFC 5424 does (251)', async (t) => {
  t.same([...LOG_LEVELS], ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'])
  for (const [index, level] of LOG_LEVELS.entries()) {
    t.ok(isLogLevel(level))
    for (const [other, threshold] of LOG_LEVELS.entries()) {
      t.equal(isAtLeast(level, threshold), index >= other, `${level} against ${threshold}`)
    }
  }
  for (const value of ['warn', 'trace', 'toString', '', 0, undefined]) t.notOk(isLogLevel(value))
})

t.test('supports the current revision and no other', async (t) => {
  t.same([...SUPPORTED_REVISIONS], ['2026-07-28'])
  t.ok(isSupportedRevision('2026-07-28'))
  t.notOk(isSupportedRevision('2025-11-25'))
})

t.test('finds nothing missing when every required capability is declared (90)', async (t) => {
  t.equal(findMissingCapabilities({}, {}), undefined)
  t.equal(findMissingCapabilities({ sampling: {} }, { sampling: {} }), undefined)
  t.equal(findMissingCapabilities({ sampling: {} }, { sampling: { tools: {} }, roots: {} }), undefined)
  t.equal(findMissingCapabilities({ sampling: { tools: {} } }, { sampling: { tools: {}, context: {} } }),
    undefined)
  t.equal(findMissingCapabilities({ extensions: { 'a.example/b': {} } },
    { extensions: { 'a.example/b': { limit: 3 } } }), undefined)
})

t.test('compares a setting that is not an object by its value', async (t) => {
  t.equal(findMissingCapabilities({ roots: { listChanged: true } }, { roots: { listChanged: true } }),
    undefined)
  t.equal(findMissingCapabilities({ experimental: { a: { kinds: ['x'] } } },
    { experimental: { a: { kinds: ['x'] } } }), undefined)
  t.same(findMissingCapabilities({ roots: { listChanged: true } }, { roots: { listChanged: false } }), {
    roots: { listChanged: true }
  })
})

t.test('returns only the missing part, as a capabilities object (90)', async (t) => {
  t.same(findMissingCapabilities({ sampling: {} }, {}), { sampling: {} })
  t.same(findMissingCapabilities({ sampling: {}, roots: {} }, { roots: {} }), { sampling: {} })
  t.same(findMissingCapabilities({ sampling: { tools: {}, context: {} } }, { sampling: { context: {} } }), {
    sampling: { tools: {} }
  })
  t.same(findMissingCapabilities({ elicitation: { url: {} } }, { sampling: {} }), {
    elicitation: { url: {} }
  })
})
