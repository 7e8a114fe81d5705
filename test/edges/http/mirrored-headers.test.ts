// Arguments of a tool that a client mirrors in Mcp-Param headers.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { type RequestParts, send } from '../../helpers/request.ts'
import { MIRRORED } from './mirrored-schema.ts'

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

t.test('mirrored arguments', async (t) => {
  const app = await buildApp(t, { 'tools/route.ts': toolModule('route', MIRRORED) })

  const route = (args: unknown, headers: RequestParts['headers'] = {}) => ({
    method: 'tools/call', params: { name: 'route', arguments: args }, headers
  })

  const agreeing: ReadonlyArray<readonly [claim: string, parts: RequestParts]> = [
    ['a string (37)', route({ region: 'eu' }, { 'mcp-param-region': 'eu' })],
    ['a string with whitespace around it (32)', route({ region: 'eu' }, { 'Mcp-Param-Region': '  eu ' })],
    ['an encoded string (33)', route({ region: 'größer' }, { 'mcp-param-region': base64('größer') })],
    ['an empty string (37)', route({ region: '' }, { 'mcp-param-region': '' })],
    ['an integer (42)', route({ count: 42 }, { 'mcp-param-count': '42' })],
    ['an integer with a point and zeros (41)', route({ count: 42 }, { 'mcp-param-count': '42.0' })],
    [
      'zero and false (42)',
      route({ count: 0, dry: false }, { 'mcp-param-count': '0', 'mcp-param-dry-run': 'false' })
    ],
    ['a boolean (42)', route({ dry: true }, { 'mcp-param-dry-run': 'true' })],
    ['a nested value (40)', route({ target: { zone: 'a' } }, { 'mcp-param-zone': 'a' })],
    ['no argument, of a call without arguments (38)', { method: 'tools/call', params: { name: 'route' } }],
    ['no argument if the argument is absent (38)', route({ target: {} })],
    ['a name without an annotation (43)', route({}, { 'mcp-param-other': 'x' })]
  ]

  for (const [claim, parts] of agreeing) {
    t.test(`accepts headers that mirror ${claim}`, async (t) => {
      const { status, response } = await send(app, parts)
      t.equal(status, 200)
      t.same(response.result.content, [{ type: 'text', text: 'ok' }])
    })
  }

  t.test('requires no header for a null argument (38)', async (t) => {
    t.equal((await send(app, route({ region: null }))).status, 200)
  })

  const differing: ReadonlyArray<readonly [claim: string, parts: RequestParts]> = [
    ['is missing (37)', route({ region: 'eu' })],
    ['differs (37)', route({ region: 'eu' }, { 'mcp-param-region': 'us' })],
    ['differs in case (37)', route({ region: 'eu' }, { 'mcp-param-region': 'EU' })],
    ['is missing for an empty string (37)', route({ region: '' })],
    ['is missing for false (37)', route({ dry: false })],
    ['says True (42)', route({ dry: true }, { 'mcp-param-dry-run': 'True' })],
    ['is another integer (41)', route({ count: 42 }, { 'mcp-param-count': '42.5' })],
    ['is no integer at all (42)', route({ count: 42 }, { 'mcp-param-count': '0x2a' })],
    ['is sent without the argument (39)', route({}, { 'mcp-param-region': 'eu' })],
    ['is sent for a null argument (39)', route({ region: null }, { 'mcp-param-region': 'null' })],
    ['mirrors a flat name in place of the path (40)', route({ zone: 'a' }, { 'mcp-param-zone': 'a' })],
    ['is missing for a nested value (40)', route({ target: { zone: 'a' } })],
    ['has no padding (34)', route({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' })],
    [
      'has a character outside the base64 alphabet (34)',
      route({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8$?=' })
    ],
    ['has no first marker (35)', route({ region: 'Hello' }, { 'mcp-param-region': 'SGVsbG8=?=' })],
    ['has no last marker (35)', route({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8=' })],
    [
      'has a character that headers must not have (36)',
      route({ region: 'gr\xfc\xdf' }, { 'mcp-param-region': 'gr\xfc\xdf' })
    ]
  ]

  for (const [claim, parts] of differing) {
    t.test(`refuses a call whose Mcp-Param header ${claim}`, async (t) => {
      const { status, response } = await send(app, { ...parts, id: 'the id' })
      t.equal(status, 400)
      t.match(response, { id: 'the id', error: { code: -32020 } })
    })
  }
})
