import t from 'tap'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { moduleOf } from './definition-modules.ts'

t.test('refuses invalid definitions at load (110, 112, 115, 116–120, 150, 161, 189)', async (t) => {
  const tool = (options: string, name = 't') => ({ 'tools/t.ts': toolModule(name, options) })
  const property = (schema: string) => tool(`inputSchema: { type: 'object', properties: { a: ${schema} } }`)
  const prompt = (options: string) => ({
    'prompts/p.ts': moduleOf(`export default definePrompt({ ${options} })`)
  })
  const resource = (options: string) => ({
    'resources/r.resource.ts': moduleOf(`export default defineResource({ name: 'r', ${options} })`)
  })
  const template = (options: string) => ({
    'resources/r.resource.ts': moduleOf(
      `export default defineResourceTemplate({ name: 'r', read: () => '', ${options} })`
    )
  })
  const handle = (options: string) => ({
    'lib/h.ts': "import { defineHandle } from 'trivet'\n" +
      `export const h = defineHandle({ kind: 'k', prefix: 'k', schema: {}, idleTtlMs: 1000, ${options} })`,
    'tools/t.ts': `import '../lib/h.ts'\n${toolModule('t')}`
  })
  const isGenerator = 'must not be a generator function; collect the parts, and return them'
  const refused: ReadonlyArray<readonly [string, Files, string, RegExp]> = [
    ['a name with a space (112)', tool('', 'a b'), '', /^name: must match pattern/],
    ['a name of 129 characters (112)', tool('', 'x'.repeat(129)), '', /^name: /],
    [
      'two tools of one name (112)', { 'tools/a.ts': toolModule('same'), 'tools/b.ts': toolModule('same') },
      '', /^the tool "same" is already defined in tools\/a\.ts$/
    ],
    [
      'two prompts of one name',
      { 'prompts/a.md': '---\nname: p\n---\na', 'prompts/b.md': '---\nname: p\n---\nb' }, '',
      /^the prompt "p" is already defined in prompts\/a\.md$/
    ],
    [
      'a resource that is a plain file as well',
      { ...resource("uri: 'file:///a.txt', read: () => ''"), 'resources/a.txt': '' }, '',
      /^the resource "file:\/\/\/a.txt" is already defined/
    ],
    [
      'two templates of one form', { ...template("uriTemplate: 'file:///{+path}'"), 'resources/a.txt': '' },
      '', /^the resource template .* is already defined/
    ],
    [
      'a schema that is none (115)', property("{ type: 'string', enum: 'a' }"), 'inputSchema',
      /^\/properties\/a\/enum must be array$/
    ],
    [
      'an output schema that is none (115)', tool("outputSchema: { required: 'a' }"), 'outputSchema',
      /required/
    ],
    [
      'a pattern that is none (115)', property("{ type: 'string', pattern: '(' }"), 'inputSchema',
      /pattern|regular expression/i
    ],
    [
      'a root that is no object (110)', tool("inputSchema: { type: 'array' }"), 'inputSchema',
      /must have "type": "object" at its root, got "array"/
    ],
    [
      'a root without a type (110)', tool('inputSchema: { properties: {} }'), 'inputSchema',
      /at its root, got undefined/
    ],
    [
      'a schema that is no schema', tool("inputSchema: 'string'"), 'inputSchema',
      /must be a JSON Schema object/
    ],
    [
      'a reference to the network', property("{ $ref: 'https://example.com/schema.json' }"), 'inputSchema',
      /references are never fetched/
    ],
    [
      'a reference to nothing', property("{ $ref: '#/$defs/nothing' }"), 'inputSchema',
      /can't resolve reference #\/\$defs\/nothing$/
    ],
    [
      'an unknown dialect',
      tool("inputSchema: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }"),
      'inputSchema', /is not supported; use JSON Schema 2020-12/
    ],
    [
      'an asynchronous schema', tool("inputSchema: { $async: true, type: 'object' }"), 'inputSchema',
      /\$async is not allowed/
    ],
    [
      'a schema that is too large', tool("inputSchema: { type: 'object', description: 'x'.repeat(70_000) }"),
      'inputSchema', /bytes of JSON; the limit is 65536/
    ],
    [
      'a schema with too many keys',
      tool(
        "inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 501 }, (_, i) " +
          "=> ['k' + i, true])) }"
      ),
      'inputSchema', /has 501 keys/
    ],
    [
      'a schema that is too deep',
      tool(
        "inputSchema: Array.from({ length: 70 }).reduce((inner) => ({ type: 'object', properties: { a: " +
          'inner } }), {})'
      ),
      'inputSchema', /nested deeper than 64/
    ],
    [
      'a schema that is far too deep',
      tool(
        "inputSchema: Array.from({ length: 10_000 }).reduce((inner) => ({ type: 'object', properties: { a: " +
          'inner } }), {})'
      ),
      'inputSchema', /^\/properties\/a.* is nested deeper than 64/
    ],
    [
      'a schema that contains itself',
      tool('inputSchema: (() => { const s = { properties: {} }; s.properties.a = s; return s })()'),
      'inputSchema', /^\/properties\/a contains itself: refer to it with "\$ref"$/
    ],
    [
      'a mirrored parameter without a name (116)', property("{ type: 'string', 'x-mcp-header': '' }"),
      'inputSchema/properties/a/x-mcp-header', /must be an HTTP token/
    ],
    [
      'a mirrored parameter with a line break (116)',
      property("{ type: 'string', 'x-mcp-header': 'A\\r\\nB' }"), 'inputSchema/properties/a/x-mcp-header',
      /must be an HTTP token/
    ],
    [
      'a mirrored parameter named twice (117)',
      tool(
        "inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'Region' }, b: " +
          "{ type: 'string', 'x-mcp-header': 'REGION' } } }"
      ),
      'inputSchema/properties/b/x-mcp-header', /a second time; header names ignore case/
    ],
    [
      'a mirrored number (118)', property("{ type: 'number', 'x-mcp-header': 'A' }"),
      'inputSchema/properties/a/x-mcp-header', /of type string, integer or boolean, got "number"/
    ],
    [
      'a mirrored union (118)', property("{ type: ['string', 'null'], 'x-mcp-header': 'A' }"),
      'inputSchema/properties/a/x-mcp-header', /of type string, integer or boolean/
    ],
    [
      'a mirrored integer that is too large (118)',
      property("{ type: 'integer', maximum: 2 ** 53, 'x-mcp-header': 'A' }"),
      'inputSchema/properties/a/x-mcp-header', /within ±/
    ],
    [
      'a mirrored item of a list (119)',
      property("{ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } }"),
      'inputSchema/properties/a/items/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a mirrored branch (119)',
      tool(
        "inputSchema: { type: 'object', oneOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } " +
          '} }] }'
      ),
      'inputSchema/oneOf/0/properties/a/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a mirrored definition (119)',
      tool("inputSchema: { type: 'object', $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }"),
      'inputSchema/$defs/a/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a mirrored root (119)', tool("inputSchema: { type: 'object', 'x-mcp-header': 'A' }"),
      'inputSchema/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a default that its schema refuses ', property("{ type: 'string', default: 5 }"), 'inputSchema',
      /^\/properties\/a\/default does not match its own schema: value: must be string, got 5$/
    ],
    [
      'a default out of bounds', property("{ type: 'integer', maximum: 10, default: 50 }"), 'inputSchema',
      /^\/properties\/a\/default does not match its own schema: value: must be <= 10, got 50$/
    ],
    [
      'a default without its members',
      property("{ type: 'object', properties: { b: {} }, required: ['b'], default: {} }"), 'inputSchema',
      /^\/properties\/a\/default does not match its own schema: b: is required, but missing$/
    ],
    [
      'an example that its schema refuses',
      property("{ type: 'string', pattern: '^a', examples: ['a', 'b'] }"),
      'inputSchema', /^\/properties\/a\/examples\/1 does not match its own schema/
    ],
    [
      'an example that a result cannot have',
      tool("outputSchema: { type: 'object', properties: { a: { type: 'string', examples: [1] } } }"),
      'outputSchema', /^\/properties\/a\/examples\/0 does not match its own schema/
    ],
    [
      'choices of another type', property("{ type: 'string', enum: [1, 2] }"), 'inputSchema',
      /^\/properties\/a\/enum has no value of the schema's type$/
    ],
    [
      'a constant of another type', property("{ anyOf: [{ type: 'string', const: 1 }] }"), 'inputSchema',
      /^\/properties\/a\/anyOf\/0\/const has not the schema's type$/
    ],
    [
      'a required member that is forbidden',
      tool("inputSchema: { type: 'object', properties: {}, required: ['b'], additionalProperties: false }"),
      'inputSchema', /^\/required names "b", which is not in properties; additionalProperties: false forbids it$/
    ],
    ['a schema that is no JSON', property('{ default: 5n }'), '', /^cannot be compiled: .*BigInt/],
    ['metadata that is no JSON', tool("_meta: { 'a.b/c': 5n }"), '', /^_meta: \/a\.b~1c: a bigint has no JSON form/],
    [
      'a tool without run', { 'tools/t.ts': moduleOf("export default defineTool({ name: 't' })") }, '',
      /^run: is required, but missing$/
    ],
    [
      'a run that is no function',
      { 'tools/t.ts': moduleOf("export default defineTool({ name: 't', run: 'now' })") }, 'run',
      /^must be a function$/
    ],
    [
      'a run that yields',
      { 'tools/t.ts': moduleOf("export default defineTool({ name: 't', run: async function * () {} })") },
      'run', new RegExp(`^${isGenerator}$`)
    ],
    [
      'an authorize that yields', tool('authorize: function * () {}'), 'authorize',
      new RegExp(`^${isGenerator}$`)
    ],
    [
      'a render that yields', prompt("name: 'p', render: function * () {}"), '',
      new RegExp(`^render: ${isGenerator}$`)
    ],
    [
      'a read that yields', resource("uri: 'x://r', read: async function * () {}"), '',
      new RegExp(`^read: ${isGenerator}$`)
    ],
    ['a migrate that is no function', handle('migrate: 1'), 'h.migrate', /^must be a function$/],
    [
      'a migrate that yields', handle('migrate: function * () {}'), 'h.migrate', new RegExp(`^${isGenerator}$`)
    ],
    [
      'completions that are yielded',
      prompt("name: 'p', arguments: [{ name: 'a', complete: function * () {} }], render: () => ''"), '',
      /^arguments\.a\.complete: must be a list of strings or a function$/
    ],
    [
      'completions of no variable',
      template("uriTemplate: 'x://{a}', complete: { b: [] }"), 'complete.b', /^names no variable of the uri/
    ],
    [
      'an annotation of another type', tool("annotations: { readOnlyHint: 'yes' }"), '',
      /^annotations\.readOnlyHint: must be boolean/
    ],
    ['a timeout of nothing', tool('timeoutMs: 0'), '', /^timeoutMs: /],
    ['a module that throws an object', { 'tools/t.ts': "throw { code: 'x' }" }, '', /^\{ code: 'x' \}$/],
    [
      'a module that throws an object without a prototype', { 'tools/t.ts': 'throw Object.create(null)' }, '',
      /null prototype/
    ],
    [
      'an app with a name of a megabyte', tool(`ui: '${'x'.repeat(1_000_000)}'`), 'line 2',
      /^the tool t shows the app "x{100}…", which does not exist: make apps\/x{100}…\/index\.html$/
    ],
    ['YAML without an end of depth', { 'server.yaml': '['.repeat(10_000) }, 'line 1', /^is nested too deeply/],
    [
      'a member that nobody knows', tool("descripton: 'A tool.'"), '',
      /^descripton: is not known here; did you mean description\?$/
    ],
    ['reserved metadata', tool("_meta: { 'io.modelcontextprotocol/x': 1 }"), '', /_meta/],
    ['reserved metadata of another domain', tool("_meta: { 'dev.mcp/x': 1 }"), '', /_meta/],
    [
      'an icon that could run code', tool("icons: [{ src: 'javascript:alert(1)' }]"), '', /^icons\[0\]\.src: /
    ],
    ['a scope with a space', tool("scopes: ['a b']"), '', /^scopes\[0\]: /],
    ['a prompt without render', prompt("name: 'p'"), '', /^render: is required, but missing$/],
    [
      'an argument named twice',
      prompt("name: 'p', arguments: [{ name: 'a' }, { name: 'a' }], render: () => ''"), '',
      /^arguments: "a" is named twice$/
    ],
    [
      'a name that no client could send', prompt("name: 'p\\ud83d', render: () => ''"), '',
      /^the name "p\ufffd" has half of a surrogate pair$/
    ],
    [
      'an argument that no client could send',
      prompt("name: 'p', arguments: [{ name: '\\udc00' }], render: () => ''"), '',
      /^the name "\ufffd" has half of a surrogate pair$/
    ],
    [
      'completions that are none',
      prompt("name: 'p', arguments: [{ name: 'a', complete: 5 }], render: () => ''"), '',
      /^arguments\.a\.complete: must be a list of strings or a function$/
    ],
    ['a relative URI (150)', resource("uri: '/a', read: () => ''"), '', /^uri: must match pattern/],
    [
      'a URI with a malformed percent-encoding (150)', resource("uri: 'x://100%', read: () => ''"), 'uri',
      /^must be a URI as RFC 3986 has it, got "x:\/\/100%"$/
    ],
    [
      'two spellings of one URI (150)',
      {
        'resources/r.resource.ts': moduleOf(`export default ['x://a b', 'x://a%20b'].map(
          (uri) => defineResource({ uri, name: 'r', read: () => '' })
        )`)
      },
      'default[1]', /^the resource "x:\/\/a%20b" is already defined/
    ],
    [
      'a listed URI that is none (150)',
      template("uriTemplate: 'x://{a}', list: () => [{ uri: 'x://a%', name: 'n' }]"), 'list()[0].uri',
      /^must be a URI as RFC 3986 has it/
    ],
    [
      'a MIME type that is none', resource("uri: 'x://r', mimeType: 'text/plain; x', read: () => ''"), '',
      /^mimeType: must match pattern/
    ],
    [
      'a MIME type of an icon that is none', tool("icons: [{ src: 'data:,', mimeType: 'png' }]"), '',
      /^icons\[0\]\.mimeType: must match pattern/
    ],
    [
      'a misspelt annotation (161)',
      resource("uri: 'x://r', annotations: { lastmodified: '2026-01-01' }, read: () => ''"), '',
      /^annotations\.lastmodified: is not known here/
    ],
    [
      'a priority past 1 (161)', resource("uri: 'x://r', read: () => '', annotations: { priority: 1.5 }"), '',
      /^annotations\.priority: must be <= 1/
    ],
    ['a read that is no function', resource("uri: 'x://r', read: 'text'"), '', /^read: must be a function$/],
    [
      'a resource that only some may read, cached for all (189)',
      resource("uri: 'x://r', scopes: ['a'], cache: { cacheScope: 'public' }, read: () => ''"), '',
      /^cache\.cacheScope: cannot be public/
    ],
    [
      'a template that only some may read, cached for all (189)',
      template("uriTemplate: 'x://{a}', scopes: ['a'], cache: { cacheScope: 'public' }"), '',
      /^cache\.cacheScope: cannot be public/
    ],
    [
      'a template that RFC 6570 does not know (150)', template("uriTemplate: 'x://{a'"), 'uriTemplate',
      /unbalanced/
    ],
    [
      'completions for a variable that is none', template("uriTemplate: 'x://{a}', complete: { b: [] }"),
      'complete.b', /names no variable/
    ],
    [
      'a list with an entry that is none', template("uriTemplate: 'x://{a}', list: () => [{ name: 'n' }]"),
      'list()[0]', /either uri or variables/
    ],
    [
      'a list that fails', template("uriTemplate: 'x://{a}', list () { throw new Error('no database') }"),
      'list', /^failed: no database$/
    ]
  ]
  for (const [what, files, place, rule] of refused) {
    const problems = await problemsOf(t, files)
    t.match(problems, [{ place, rule }], what)
    t.equal(problems.length, 1, `${what}: once`)
  }
})
