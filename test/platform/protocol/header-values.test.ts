import fc from 'fast-check'
import t from 'tap'
import { ProtocolError } from '../../../src/platform/protocol/errors.ts'
import {
  checkLiteralHeader, checkMirroredField, decodeHeaderValue
} from '../../../src/platform/protocol/header-values.ts'

const mismatch = { name: 'ProtocolError', code: -32020, httpStatus: 400 }

/** Encodes as a client does: literally where a header can hold the text, otherwise in the base64 form. */
function encode (text: string): string {
  const isLiteral = /^[\x20-\x7e]*$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/.test(text)
  return isLiteral ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

t.test('trims a plain value and takes it literally (32)', async (t) => {
  t.equal(decodeHeaderValue('Mcp-Name', 'get_weather'), 'get_weather')
  t.equal(decodeHeaderValue('Mcp-Name', ' \t get weather \t'), 'get weather')
  t.equal(decodeHeaderValue('Mcp-Name', ''), '')
})

t.test('decodes the base64 form as UTF-8 (33)', async (t) => {
  t.equal(decodeHeaderValue('Mcp-Name', '=?base64?SGVsbG8=?='), 'Hello')
  t.equal(decodeHeaderValue('Mcp-Name', '  =?base64?5pel5pys?=  '), '日本')
  t.equal(decodeHeaderValue('Mcp-Name', '=?base64??='), '')
  t.equal(decodeHeaderValue('Mcp-Name', `=?base64?${Buffer.from(' padded ').toString('base64')}?=`),
    ' padded ', 'encoded whitespace stays')
  t.equal(decodeHeaderValue('Mcp-Name', `=?base64?${Buffer.from('=?base64?eA==?=').toString('base64')}?=`),
    '=?base64?eA==?=', 'a value is decoded once')
})

const literals: ReadonlyArray<readonly [claim: string, value: string]> = [
  ['has no first marker', 'SGVsbG8=?='],
  ['has no last marker', '=?base64?SGVsbG8='],
  ['has its marker in upper case', '=?BASE64?SGVsbG8=?='],
  ['has its marker in mixed case', '=?Base64?SGVsbG8=?='],
  ['names another encoding', '=?utf-8?q?SGVsbG8=?='],
  ['has text around the markers', 'x=?base64?SGVsbG8=?=y']
]

for (const [claim, value] of literals) {
  t.test(`takes literally a value that ${claim} (35)`, async (t) => {
    t.equal(decodeHeaderValue('Mcp-Name', value), value)
  })
}

const malformed: ReadonlyArray<readonly [claim: string, encoded: string]> = [
  ['without its padding', 'SGVsbG8'],
  ['with too much padding', 'SGVsbG8=='],
  ['with padding in its middle', 'SGVs=bG8'],
  ['with a character outside the alphabet', 'SGVsbG8$'],
  ['with a space in it', 'SGVs bG8='],
  ['of the URL alphabet', '_-_-'],
  ['with bits left over: it is not canonical', 'SGVsbG9='],
  ['of one character', 'S'],
  ['of padding only', '===='],
  ['that is not UTF-8', Buffer.from([0xff, 0xfe, 0xfd]).toString('base64')],
  ['of a surrogate: it is not valid in UTF-8', Buffer.from([0xed, 0xa0, 0x80]).toString('base64')]
]

for (const [claim, encoded] of malformed) {
  t.test(`refuses base64 ${claim} (34)`, async (t) => {
    t.throws(() => decodeHeaderValue('Mcp-Name', `=?base64?${encoded}?=`), mismatch)
  })
}

t.test('refuses a character that no header value may hold (36)', async (t) => {
  for (const value of ['a\0b', 'a\x7fb', 'a\nb', 'a\rb', 'é', '\x80', '日本', 'a\x1fb']) {
    t.throws(() => decodeHeaderValue('Mcp-Name', value), mismatch, JSON.stringify(value))
  }
  t.equal(decodeHeaderValue('Mcp-Name', 'a\tb'), 'a\tb')
})

t.test('decodes any string or throws a header mismatch, and no other error', async () => {
  const ofAlphabet = fc.string({ unit: fc.constantFrom(...'AQgw+/=_- '), maxLength: 12 })
  const sentinel = fc.oneof(fc.string(), ofAlphabet, fc.base64String()).map((text) => `=?base64?${text}?=`)
  fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), sentinel), (value) => {
    try {
      return typeof decodeHeaderValue('Mcp-Name', value) === 'string'
    } catch (error) {
      return error instanceof ProtocolError && error.code === -32020
    }
  }), { numRuns: 1000 })
})

t.test('decodes any Unicode text that a client encodes', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) =>
    decodeHeaderValue('Mcp-Name', encode(text)) === text), { numRuns: 1000 })
})

t.test('compares a literal header exactly, after trimming it (28, 32)', async (t) => {
  t.doesNotThrow(() => checkLiteralHeader('Mcp-Method', 'tools/list', ' tools/list\t'))
  for (const received of [undefined, '', 'TOOLS/LIST', 'tools/call', 'tools/ list']) {
    t.throws(() => checkLiteralHeader('Mcp-Method', 'tools/list', received), mismatch)
  }
  t.throws(() => checkLiteralHeader('Mcp-Method', 'tools/list', '=?base64?dG9vbHMvbGlzdA==?='), mismatch,
    'the base64 form is not decoded')
})

const mirrors: ReadonlyArray<readonly [
  value: string | number | boolean, equal: readonly string[], different: readonly string[]
]> = [
  ['eu', ['eu', ' eu ', '=?base64?ZXU=?='], ['EU', 'e u', 'us', '=?base64?dXM=?=', '']],
  ['42', ['42'], ['42.0', '042']],
  ['日本', ['=?base64?5pel5pys?='], ['=?base64?5pel?=']],
  [42, ['42', '42.0', '42.00', '042', '=?base64?NDI=?='],
    ['43', '42.1', '4.2e1', '0x2a', '+42', '42.', '', 'NaN', '"42"']],
  [-7, ['-7', '-7.0'], ['7', '--7', '- 7']],
  [0, ['0', '-0', '0.0'], ['', 'false', 'null']],
  [Number.MAX_SAFE_INTEGER, ['9007199254740991'], ['9007199254740990']],
  [true, ['true'], ['True', 'TRUE', '1', 'yes', 'false']],
  [false, ['false'], ['0', '', 'False']]
]

for (const [value, equal, different] of mirrors) {
  t.test(`knows which headers mirror ${JSON.stringify(value)} (37, 41, 42)`, async (t) => {
    for (const received of equal) {
      t.doesNotThrow(() => checkMirroredField({ header: 'Mcp-Param-A', value }, received), received)
    }
    for (const received of different) {
      t.throws(() => checkMirroredField({ header: 'Mcp-Param-A', value }, received), mismatch, received)
    }
  })
}

t.test('compares any integer with its decimal form, with or without zeros after the point (41)', async () => {
  fc.assert(fc.property(fc.maxSafeInteger(), fc.nat(3), (value, zeros) => {
    checkMirroredField({ header: 'Mcp-Param-A', value }, value + (zeros === 0 ? '' : `.${'0'.repeat(zeros)}`))
  }))
})

t.test('the header must be there when the body has the value, and only then (37, 38, 39)', async (t) => {
  t.throws(() => checkMirroredField({ header: 'Mcp-Param-A', value: 'eu' }, undefined), {
    ...mismatch, message: /Mcp-Param-A is missing/
  })
  t.doesNotThrow(() => checkMirroredField({ header: 'Mcp-Param-A', value: undefined }, undefined))
  t.throws(() => checkMirroredField({ header: 'Mcp-Param-A', value: undefined }, ''), {
    ...mismatch, message: /no such value/
  })
})
