import t from 'tap'
import { isLoopback } from '../../../src/base/addresses.ts'
import { completeConfig, ConfigError, readConfig, toAppConfig } from '../../../src/ops/config/config.ts'
import { CONSTANTS } from '../../../src/ops/config/constants.ts'
import { ROWS, SETTINGS, type Config } from '../../../src/ops/config/settings.ts'

interface Expectation {
  readonly fallback: unknown
  /** The text of a variable, and its value. */
  readonly good: ReadonlyArray<readonly [text: string, value: unknown]>
  readonly bad: readonly string[]
  /** The start of the problem, after the name of the variable. */
  readonly rule: string
  /** Variables that a good value needs beside it. */
  readonly beside?: { readonly [variable: string]: string }
}

function integer (fallback: number, min: number, max: number): Expectation {
  return {
    fallback,
    good: [[String(min), min], [String(max), max], [` ${min} `, min]],
    bad: [String(min - 1), String(max + 1), '1.5', '1e3', 'a minute', '0x10', '1_000', 'NaN'],
    rule: `must be an integer from ${min} to ${max}, got `
  }
}

const RATE: Expectation = {
  fallback: undefined,
  good: ['100/1m', '1/s', '999999/999d', '5/2h', 'off'].map((text) => [text, text]),
  bad: ['on', '100', '0/1m', '100/m1', '1.5/s', '100/0s', '100 / 1m', '1000000/s', '1/1w'],
  rule: 'must be a number of calls and a time in s, m, h or d, such as 100/1m, or off, got '
}

const SIGN_IN = {
  TRIVET_AUTH: 'sign-in',
  TRIVET_PUBLIC_URL: 'https://books.example/mcp',
  TRIVET_SIGN_IN: 'https://login.example'
}

const settings: { readonly [K in keyof Config]: Expectation } = {
  host: {
    fallback: '127.0.0.1',
    good: [['localhost', 'localhost'], ['::1', '::1']],
    bad: ['http://localhost', 'two words'],
    rule: 'must be an address or a host name, got '
  },
  port: integer(3000, 0, 65_535),
  workers: {
    fallback: 1,
    good: [['1', 1], ['256', 256], ['auto', 'auto']],
    bad: ['0', '257', '1.5', 'all', 'Auto'],
    rule: 'must be an integer from 1 to 256, or auto, got ',
    beside: { TRIVET_STATE_URL: 'redis://redis', TRIVET_SECRETS: 'a secret of thirty-two characters' }
  },
  adminPort: { ...integer(0, 0, 65_535), fallback: undefined },
  adminHost: {
    fallback: '127.0.0.1',
    good: [['0.0.0.0', '0.0.0.0'], ['[::]', '::']],
    bad: ['http://localhost', 'two words'],
    rule: 'must be an address or a host name, got '
  },
  path: {
    fallback: '/mcp',
    good: [['/', '/'], ['/a/b-c', '/a/b-c']],
    bad: ['mcp', '/a b', '/a?b', '/:id', '/*', '/livez', '/readyz', '/.well-known', '/.well-known/a'],
    rule: 'must be a path such as /mcp, and neither /livez, /readyz nor below /.well-known, got '
  },
  catalog: {
    fallback: './catalog',
    good: [['/srv/catalog', '/srv/catalog'], ['my files', 'my files']],
    bad: [],
    rule: ''
  },
  watch: {
    fallback: 'on',
    good: [['on', 'on'], ['off', 'off'], ['poll', 'poll']],
    bad: ['true', 'ON'],
    rule: 'must be one of on, off, poll, got '
  },
  auth: {
    fallback: [],
    good: [['none', ['none']]],
    bad: ['basic', 'None', 'false', 'jwt,oauth'],
    rule: 'must be one or several of none, jwt, introspection, tokens, sign-in, comma-separated, got '
  },
  publicUrl: {
    fallback: undefined,
    good: ['https://mcp.example.com/mcp', 'https://mcp.example.com', 'http://localhost:3000/mcp'].map(
      (url) => [url, url]
    ),
    bad: [
      'mcp.example.com', 'http://mcp.example.com/mcp', 'https://mcp.example.com/', 'https://M.example.com/mcp',
      'https://mcp.example.com/mcp/', 'https://mcp.example.com/mcp?a=1', 'https://mcp.example.com/mcp#a',
      'https://mcp.example.com/mcp?', 'https://ada:secret@mcp.example.com/mcp', 'https://a.example.com:443/mcp'
    ],
    rule: 'must be the URL of the endpoint for clients, such as https://mcp.example.com/mcp, without a query, ' +
      'a fragment or a slash at its end (http:// only for this machine), got '
  },
  authIssuers: {
    fallback: [],
    good: [
      ['https://a.example/, https://b.example', ['https://a.example/', 'https://b.example']],
      ['http://127.0.0.1:1', ['http://127.0.0.1:1']]
    ],
    bad: ['a.example', 'http://a.example', 'https://a.example,b'],
    rule: 'must be a comma-separated list of https:// URLs of authorization servers (http:// only for this ' +
      'machine), got ',
    beside: { TRIVET_AUTH: 'jwt', TRIVET_PUBLIC_URL: 'https://mcp.example.com/mcp' }
  },
  authAudiences: {
    fallback: [],
    good: [['api://a, https://a.example api://b', ['api://a', 'https://a.example api://b']]],
    bad: ['a b c'],
    rule: 'must be a comma-separated list of audiences, each alone or after its issuer and a space, got ',
    beside: {
      TRIVET_AUTH: 'jwt',
      TRIVET_PUBLIC_URL: 'https://mcp.example.com/mcp',
      TRIVET_AUTH_ISSUERS: 'https://a.example'
    }
  },
  authScopes: {
    fallback: [],
    good: [['books:read, books:write', ['books:read', 'books:write']]],
    bad: ['offline_access', 'a b', 'a"'],
    rule: 'must be a comma-separated list of scopes, without offline_access, got '
  },
  authPreset: {
    fallback: 'standard',
    good: [['entra', 'entra'], ['google', 'google']],
    bad: ['Entra', 'toString'],
    rule: 'must be one of standard, entra, auth0, keycloak, okta, google, got '
  },
  authScopeClaims: { fallback: [], good: [['scp, roles', ['scp', 'roles']]], bad: [], rule: '' },
  authClientId: {
    fallback: undefined, beside: { TRIVET_AUTH_CLIENT_SECRET: 'b' }, good: [['a', 'a']], bad: [], rule: ''
  },
  authClientSecret: { fallback: undefined, good: [['a', 'a']], bad: [], rule: '' },
  authClientKey: {
    fallback: undefined,
    good: [['{"kty":"EC"}', '{"kty":"EC"}']],
    bad: ['secret'],
    rule: 'must be a private key in PEM or as a JWK, got '
  },
  authIntrospectionUrl: {
    fallback: undefined,
    good: [['https://a.example/introspect', 'https://a.example/introspect']],
    bad: ['http://a.example/introspect', '/introspect'],
    rule: 'must be an https:// URL (http:// only for this machine), got '
  },
  authTokens: {
    fallback: undefined,
    good: [['./tokens.yaml', './tokens.yaml']],
    bad: [],
    rule: '',
    beside: { TRIVET_AUTH: 'tokens' }
  },
  signIn: {
    fallback: undefined,
    good: [['https://login.example', 'https://login.example'], ['http://localhost:1', 'http://localhost:1']],
    bad: ['http://login.example', 'login.example'],
    rule: 'must be the https:// URL of an identity provider (http:// only for this machine), got ',
    beside: { ...SIGN_IN, TRIVET_SIGN_IN_CLIENT_ID: 'a', TRIVET_SIGN_IN_CLIENT_SECRET: 'a' }
  },
  signInClientId: {
    fallback: undefined,
    good: [['a', 'a']],
    bad: [],
    rule: '',
    beside: { ...SIGN_IN, TRIVET_SIGN_IN_CLIENT_SECRET: 'a' }
  },
  signInClientSecret: {
    fallback: undefined,
    good: [['a', 'a']],
    bad: [],
    rule: '',
    beside: { ...SIGN_IN, TRIVET_SIGN_IN_CLIENT_ID: 'a' }
  },
  signInClientKey: {
    fallback: undefined,
    good: [['{"kty":"EC"}', '{"kty":"EC"}']],
    bad: ['secret'],
    rule: 'must be a private key in PEM or as a JWK, got ',
    beside: { ...SIGN_IN, TRIVET_SIGN_IN_CLIENT_ID: 'a' }
  },
  allowedHosts: {
    fallback: [],
    good: [['a.example', ['a.example']], ['a.example:8080, [::1] ,', ['a.example:8080', '[::1]']]],
    bad: ['https://a.example', 'a b', '*.a.example'],
    rule: 'must be a comma-separated list of host names, each with or without a port, got '
  },
  allowedOrigins: {
    fallback: [],
    good: [
      ['https://a.example', ['https://a.example']],
      ['http://localhost:3000,vscode-webview://x', ['http://localhost:3000', 'vscode-webview://x']],
      ['*', ['*']]
    ],
    bad: ['a.example', 'https://a.example/', 'https://a.example/path', 'https://a.example, *.b.example'],
    rule: 'must be a comma-separated list of origins such as https://app.example.com, got '
  },
  trustedProxies: {
    fallback: [],
    good: [
      ['10.0.0.1', ['10.0.0.1']],
      ['10.0.0.0/8, 2001:db8::/32,::1', ['10.0.0.0/8', '2001:db8::/32', '::1']],
      ['loopback,linklocal,uniquelocal', ['loopback', 'linklocal', 'uniquelocal']],
      ['0.0.0.0/1', ['0.0.0.0/1']]
    ],
    bad: [
      'proxy.example', 'true', '1', 'Loopback', '10.0.0.0/33', '10.0.0.0/0', '::/129', '10.0.0/8',
      '10.0.0.0/255.0.0.0', '10.0.0.1:80', '[::1]', 'fe80::1%eth0', 'loopback, *'
    ],
    rule: 'must be a comma-separated list of addresses, ranges such as 10.0.0.0/8, loopback, linklocal or ' +
      'uniquelocal, got '
  },
  logLevel: {
    fallback: 'info',
    good: [['trace', 'trace'], ['silent', 'silent']],
    bad: ['warning', 'INFO', '30'],
    rule: 'must be one of trace, debug, info, warn, error, fatal, silent, got '
  },
  logLevelFile: {
    fallback: undefined, good: [['/etc/trivet/log-level', '/etc/trivet/log-level']], bad: [], rule: ''
  },
  auditFile: { fallback: undefined, good: [['./audit.jsonl', './audit.jsonl']], bad: [], rule: '' },
  adminToken: {
    fallback: undefined,
    good: [['0123456789abcdef0123456789ABCDEF-._~+/==', '0123456789abcdef0123456789ABCDEF-._~+/==']],
    bad: ['short', '0123456789abcdef0123456789ABCDEF-._~+/== two words'],
    rule: 'must be 32 characters or more: letters, digits, and -._~+/, got '
  },
  otlpUrl: {
    fallback: undefined,
    good: [
      ['http://localhost:4318', 'http://localhost:4318'],
      ['https://otlp.example/base/v1/traces', 'https://otlp.example/base/v1/traces']
    ],
    bad: ['localhost:4318', 'grpc://collector', 'http://me:word@collector', 'http://a/?key=b', 'http://a/#b'],
    rule: 'must be an http:// or https:// URL without a user, a query or a fragment, got '
  },
  maxBodyBytes: integer(1_048_576, 1024, 104_857_600),
  maxResourceBytes: integer(10_485_760, 1024, 268_435_456),
  maxStreams: integer(10_000, 1, 1_000_000),
  keepAliveMs: integer(25_000, 100, 3_600_000),
  requestTimeoutMs: integer(30_000, 1, 3_600_000),
  shutdownTimeoutMs: integer(10_000, 0, 600_000),
  drainMs: integer(0, 0, 600_000),
  stateUrl: {
    fallback: 'file:./data',
    good: [['memory:', 'memory:'], ['file:/data', 'file:/data']],
    bad: ['memory', 'file:', './data', 'http://redis', 'redis://'],
    rule: 'must be memory:, file:PATH, an address of Redis such as redis://host:6379, or an address of ' +
      'PostgreSQL such as postgres://user@host/database, got '
  },
  statePrefix: {
    fallback: 'trivet',
    good: [['shop', 'shop'], ['a.B-c_9', 'a.B-c_9'], ['x'.repeat(64), 'x'.repeat(64)]],
    bad: ['a:b', 'a b', '{a}', 'a*', 'a/b', 'ä', 'x'.repeat(65)],
    rule: 'must be 1 to 64 letters, digits, -, _ or ., got '
  },
  maxHandlesPerCaller: integer(10_000, 1, 10_000_000),
  maxTasksPerCaller: integer(1000, 1, 1_000_000),
  taskLeaseMs: integer(10_000, 500, 600_000),
  taskWaitMs: {
    ...integer(0, 0, 600_000), fallback: undefined, beside: { TRIVET_REQUEST_TIMEOUT_MS: '3600000' }
  },
  filesUrl: {
    fallback: undefined,
    good: ['file:/data/files', 's3://files', 's3://my.files/a/b?region=eu-central-1&endpoint=https://s3.example.com']
      .map((url) => [url, url]),
    bad: ['files', 'file:', '/data/files', 's3:files', 's3://Files', 's3://f', 's3://files/a b', 'redis://h'],
    rule: 'must be file:PATH or s3://BUCKET/PREFIX, with ?region= and ?endpoint= where needed, got '
  },
  filesToken: {
    fallback: 'optional',
    good: [['optional', 'optional'], ['required', 'required']],
    bad: ['on', 'true'],
    rule: 'must be one of optional, required, got '
  },
  maxFileBytes: integer(268_435_456, 1024, 53_687_091_200),
  maxFileBytesPerCaller: integer(2_147_483_648, 1024, 1_099_511_627_776),
  overload: {
    fallback: 'on',
    good: [['on', 'on'], ['off', 'off']],
    bad: ['no', '0'],
    rule: 'must be one of on, off, got '
  },
  maxRequests: integer(10_000, 1, 1_000_000),
  maxCallsPerCaller: RATE,
  maxRunningPerCaller: integer(1000, 1, 1_000_000),
  secrets: {
    fallback: [],
    good: [
      ['a'.repeat(32), ['a'.repeat(32)]],
      [`${'a'.repeat(32)}, ${'b'.repeat(40)}`, ['a'.repeat(32), 'b'.repeat(40)]]
    ],
    bad: ['too short', `${'a'.repeat(32)},short`],
    rule: 'must be a comma-separated list of secrets of 32 characters or more each, got '
  },
  requestStateTtlMs: integer(900_000, 1000, 86_400_000),
  legacy: {
    fallback: 'on',
    good: [['on', 'on'], ['off', 'off']],
    bad: ['no', 'OFF'],
    rule: 'must be one of on, off, got '
  }
}

/** The problems of an environment. */
function problemsOf (environment: { [variable: string]: string }): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const expectations = Object.entries(settings).flatMap(([key, expected]) => {
  return ROWS.filter(([known]) => known === key).map(
    ([, { variable, isSecret = false }]) => ({ key, variable, isSecret, ...expected })
  )
})

for (const { key, variable, isSecret, beside, fallback, good, bad, rule } of expectations) {
  const valueOf = (config: Config) => Object.entries(config).find(([name]) => name === key)?.[1]

  t.test(`${variable} is ${JSON.stringify(fallback) ?? 'not set'} if absent or empty`, async (t) => {
    t.same(valueOf(readConfig({})), fallback)
    t.same(valueOf(readConfig({ [variable]: '' })), fallback)
    t.same(valueOf(readConfig({ [variable]: '  ' })), fallback)
  })

  t.test(`${variable} is read`, async (t) => {
    for (const [text, value] of good) {
      t.same(valueOf(readConfig({ ...beside, [variable]: text })), value, text)
    }
  })

  t.test(`${variable} is refused with its variable, its form and its value`, async (t) => {
    for (const text of bad) {
      t.same(problemsOf({ [variable]: text, TRIVET_AUTH: variable === 'TRIVET_AUTH' ? text : 'none' }), [
        `${variable} ${rule}${isSecret ? 'something else' : JSON.stringify(text)}`
      ])
    }
  })
}

t.test('has an expectation above for every setting', async (t) => {
  t.same(Object.keys(settings).sort(), Object.keys(SETTINGS).sort())
  t.same(Object.keys(readConfig({})).sort(), Object.keys(SETTINGS).sort())
})

t.test('gives each setting its own variable, which begins with TRIVET_ except HOST and PORT', async (t) => {
  const variables = ROWS.map(([, { variable }]) => variable)
  t.equal(new Set(variables).size, variables.length)
  t.same(variables.filter((variable) => !variable.startsWith('TRIVET_')), ['HOST', 'PORT'])
})

t.test('names each option like its variable, and has 56 settings at most', async (t) => {
  for (const [option, { variable }] of ROWS) {
    t.equal(option.replaceAll(/[A-Z]/g, '_$&').toUpperCase(), variable.replace(/^TRIVET_/, ''))
  }
  t.ok(ROWS.length <= 56)
})

t.test('reports all problems at once', async (t) => {
  const problems = problemsOf({ PORT: 'x', TRIVET_WATCH: 'maybe', TRIVET_DRAIN_MS: '-1' })
  t.match(problems, [/^PORT must be/, /^TRIVET_WATCH must be/, /^TRIVET_DRAIN_MS must be/])
  t.equal(problems.length, 3)
  t.throws(() => readConfig({ PORT: 'x', TRIVET_WATCH: 'maybe' }), {
    name: 'ConfigError', message: /not usable:\n {2}PORT .*\n {2}TRIVET_WATCH /
  })
})

t.test('ignores variables that are not its own', async (t) => {
  t.same(readConfig({ PATH: '/bin', TRIVET_UNKNOWN: 'x' }), readConfig({}))
})

t.test('is frozen', async (t) => {
  t.ok(Object.isFrozen(readConfig({})))
  t.ok(Object.isFrozen(readConfig({ TRIVET_ALLOWED_HOSTS: 'a' }).allowedHosts))
})

t.test('refuses an address that others can reach without an authentication mode (6, 7)', async (t) => {
  for (const HOST of ['0.0.0.0', '::', '192.168.1.4', 'shop.example', '127.0.0.1.example']) {
    t.match(problemsOf({ HOST }), [/^HOST is .*, which others can reach: .*TRIVET_AUTH=none/], HOST)
    t.equal(readConfig({ HOST, TRIVET_AUTH: 'none' }).host, HOST)
  }
})

t.test('needs no authentication mode for a loopback address (6)', async (t) => {
  for (const HOST of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]']) {
    t.ok(isLoopback(HOST))
    t.same(problemsOf({ HOST }), [], HOST)
  }
})

t.test('completes the options of an embedding program', async (t) => {
  const {
    host, port, workers, adminPort, adminHost, adminToken, logLevelFile, otlpUrl, ...defaults
  } = readConfig({})
  t.same(completeConfig({ drainMs: 1 }), { ...CONSTANTS, ...defaults, drainMs: 1 })
  t.same(toAppConfig(readConfig({})), defaults)
  t.ok(Object.isFrozen(completeConfig({})))
})

t.test('has constants, which tests may replace', async (t) => {
  t.match(completeConfig({ constants: { pageSize: 3 } }), { ...CONSTANTS, pageSize: 3 })
})

t.test('refuses invalid options of an embedding program, with all problems', async (t) => {
  const refused = (given: object): readonly string[] => {
    try {
      completeConfig(given)
      return []
    } catch (error) {
      if (error instanceof ConfigError) return error.problems
      throw error
    }
  }
  t.strictSame(refused({ port: 1, host: '0.0.0.0', auth: 'none', pagesize: 3, maxBodyByte: 1 }), [
    'port is not an option of createApp: pass it to app.listen()',
    'host is not an option of createApp: pass it to app.listen()',
    'pagesize is not an option of createApp',
    'maxBodyByte is not an option of createApp; did you mean maxBodyBytes?',
    "auth must be a list of none, jwt, introspection, tokens, sign-in, got 'none'"
  ])
  t.match(refused({ adminPort: 9464, adminHost: '0.0.0.0' }), [
    /^adminPort is not an option of createApp: only a service that runs as a process has/,
    /^adminHost is not an option/
  ])
  t.match(refused({ otlpUrl: 'http://localhost:4318' }), [/^otlpUrl is not an option of createApp: register an/])
  const wrong: ReadonlyArray<readonly [given: object, problem: string]> = [
    [{ requestTimeoutMs: 3e9 }, 'requestTimeoutMs must be an integer from 1 to 3600000, got 3000000000'],
    [{ requestTimeoutMs: 1.5 }, 'requestTimeoutMs must be an integer from 1 to 3600000, got 1.5'],
    [{ drainMs: '10' }, "drainMs must be an integer from 0 to 600000, got '10'"],
    [{ pageSize: 10 }, 'pageSize is not an option of createApp: set pageSize in server.yaml'],
    [{ watch: true }, 'watch must be one of on, off, poll, got true'],
    [
      { path: 'mcp' },
      "path must be a path such as /mcp, and neither /livez, /readyz nor below /.well-known, got 'mcp'"
    ],
    [
      { allowedHosts: 'a.example' },
      "allowedHosts must be a list of host names, each with or without a port, got 'a.example'"
    ],
    [
      { allowedHosts: [1] },
      'allowedHosts must be a list of host names, each with or without a port, got [ 1 ]'
    ],
    [
      { secrets: ['hunter2'] },
      'secrets must be a list of secrets of 32 characters or more each, got something else'
    ]
  ]
  for (const [given, problem] of wrong) t.strictSame(refused(given), [problem])
})

t.test('refuses a store that replicas share without a secret that they share, and never repeats a ' +
  'secret', async (t) => {
  for (const TRIVET_STATE_URL of [
    'redis://localhost', 'rediss://:word@redis:6380/1', 'redis+sentinel://a,b/main', 'redis+cluster://a,b',
    'postgres://user:word@a,b/db'
  ]) {
    t.match(
      problemsOf({ TRIVET_STATE_URL }),
      [/^TRIVET_SECRETS is not set, but TRIVET_STATE_URL is shared: .*openssl rand/], TRIVET_STATE_URL
    )
    t.equal(readConfig({ TRIVET_STATE_URL, TRIVET_SECRETS: 's'.repeat(32) }).stateUrl, TRIVET_STATE_URL)
    t.throws(() => completeConfig({ stateUrl: TRIVET_STATE_URL }), {
      name: 'ConfigError', message: /TRIVET_SECRETS is not set/
    })
  }
  t.notMatch(problemsOf({ TRIVET_SECRETS: 'hunter2' }).join(), /hunter2/)
})

t.test('refuses settings about access that are not complete together', async (t) => {
  const issuer = 'https://issuer.example.com'
  const jwt = {
    TRIVET_AUTH: 'jwt', TRIVET_PUBLIC_URL: 'https://mcp.example.com/mcp', TRIVET_AUTH_ISSUERS: issuer
  }
  const introspection = {
    ...jwt, TRIVET_AUTH: 'introspection', TRIVET_AUTH_CLIENT_ID: 'a', TRIVET_AUTH_CLIENT_SECRET: 'b'
  }
  const tokens = { TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: 'tokens.yaml' }
  const cases: ReadonlyArray<readonly [environment: object, problems: readonly RegExp[]]> = [
    [jwt, []],
    [introspection, []],
    [tokens, []],
    [{ ...introspection, ...tokens, TRIVET_AUTH: 'none,jwt,introspection,tokens' }, []],
    [{ ...jwt, TRIVET_PUBLIC_URL: 'nonsense' }, [/^TRIVET_PUBLIC_URL must be/]],
    [{ ...tokens, TRIVET_AUTH: 'nonsense', HOST: '0.0.0.0' }, [/^TRIVET_AUTH must be/]],
    [{ ...tokens, TRIVET_AUTH: 'jwt', TRIVET_PUBLIC_URL: 'nonsense', TRIVET_AUTH_ISSUERS: issuer }, [
      /^TRIVET_PUBLIC_URL must be/, /TRIVET_AUTH does not have tokens$/
    ]],
    [{ ...jwt, TRIVET_PUBLIC_URL: '' }, [/^TRIVET_AUTH has jwt, which needs TRIVET_PUBLIC_URL$/]],
    [{ TRIVET_AUTH: 'introspection' }, [/TRIVET_PUBLIC_URL$/, /_ISSUERS$/, /_CLIENT_ID$/, /_CLIENT_SECRET and/]],
    [{ ...introspection, TRIVET_AUTH_CLIENT_KEY: '{}' }, [/_CLIENT_SECRET and TRIVET_AUTH_CLIENT_KEY$/]],
    [{ ...introspection, TRIVET_AUTH: 'jwt' }, []],
    [{ ...jwt, TRIVET_AUTH_CLIENT_ID: 'a', TRIVET_AUTH_CLIENT_KEY: '{}' }, []],
    [{ ...jwt, TRIVET_AUTH_CLIENT_ID: 'a' }, [/^TRIVET_AUTH_CLIENT_ID is set.*_CLIENT_KEY$/]],
    [{ ...introspection, TRIVET_AUTH_ISSUERS: `${issuer},${issuer}/b` }, [/works with one of/]],
    [{ TRIVET_AUTH_ISSUERS: issuer }, [/TRIVET_AUTH has neither jwt nor introspection$/]],
    [{ TRIVET_AUTH: 'tokens' }, [/which needs TRIVET_AUTH_TOKENS, a file of lines that `npx trivet token` prints$/]],
    [{ TRIVET_AUTH_TOKENS: 'tokens.yaml' }, [/TRIVET_AUTH does not have tokens$/]],
    [{ ...jwt, TRIVET_AUTH_AUDIENCES: 'https://b.example a' }, [/https:\/\/b\.example, which is not in/]]
  ]
  for (const [environment, problems] of cases) {
    const found = problemsOf({ ...environment })
    t.equal(found.length, problems.length, JSON.stringify(environment))
    t.match(found, problems)
  }
  t.throws(() => completeConfig({ auth: ['jwt'], authIssuers: [issuer], publicUrl: 'nonsense' }), {
    message: /^(?!.*which needs).*publicUrl must be/s
  })
})

t.test('refuses several workers whose state is for one process', async (t) => {
  for (const [url, scheme] of [['memory:', 'memory:'], ['file:/srv/secret-place', 'file:']] as const) {
    const problem = `TRIVET_WORKERS is 4, and TRIVET_STATE_URL is ${scheme}, which is for one process. ` +
      'Set a state that workers share, such as redis:// or postgres://, or TRIVET_WORKERS=1'
    t.throws(() => readConfig({ TRIVET_WORKERS: '4', TRIVET_STATE_URL: url }), new ConfigError([problem]))
    for (const workers of ['1', 'auto']) {
      t.equal(String(readConfig({ TRIVET_WORKERS: workers, TRIVET_STATE_URL: url }).workers), workers)
    }
  }
})

t.test('divides the limits of a replica among workers, rounded up', async (t) => {
  const limits = { maxStreams: 9, maxRunningPerCaller: 1 }
  t.match(completeConfig({ ...limits, constants: { maxRunning: 8, workerCount: 4 } }), {
    maxStreams: 3, maxRunning: 2, maxRunningPerCaller: 1, maxHandlesPerCaller: 10_000
  })
})
