import t from 'tap'
import type { UpstreamAuth } from '../../../../src/platform/author/upstream-auth.ts'
import { problemsOf, type AccessFacts } from '../../../../src/features/upstreams/credentials/problems.ts'

const JWT: AccessFacts = {
  modes: ['jwt'], issuers: ['https://id.example'], client: 'secret', publicUrl: 'https://mcp.example.com/mcp'
}
const EXCHANGE: UpstreamAuth = { type: 'exchange', audience: 'crm' }

t.test('a definition that works has no problem', async (t) => {
  const good: ReadonlyArray<readonly [UpstreamAuth, AccessFacts]> = [
    [{ type: 'none' }, { modes: [], issuers: [] }],
    [{ type: 'secret', value: 'a' }, { modes: [], issuers: [] }],
    [{ type: 'basic', user: 'a', password: 'b' }, { modes: [], issuers: [] }],
    [{ type: 'service' }, JWT],
    [{ type: 'service', issuer: 'https://id.example' }, JWT],
    [{ type: 'service', issuer: () => 'https://id.example' }, JWT],
    [
      { type: 'service', issuer: 'https://other.example', clientId: 'a', clientSecret: 'b' },
      { modes: [], issuers: [] }
    ],
    [EXCHANGE, JWT],
    [EXCHANGE, { ...JWT, modes: ['none', 'introspection'] }],
    [EXCHANGE, { ...JWT, client: 'key', issuers: ['https://a.example', 'https://b.example'] }],
    [{ type: 'exchange', scopes: ['api://crm/.default'] }, { ...JWT, form: 'on-behalf-of' }],
    [{ type: 'claims', headers: () => ({}) }, { modes: ['tokens'], issuers: [] }],
    [{ type: 'claims', headers: () => ({}) }, { modes: [], issuers: [], hasOwnAuthenticator: true }],
    [{ type: 'claims', jwt: { audience: 'crm' } }, JWT]
  ]
  for (const [auth, facts] of good) t.strictSame(problemsOf(auth, facts), [], JSON.stringify(auth))
})

t.test('what a load can know is a problem that says what to set', async (t) => {
  const bad: ReadonlyArray<readonly [UpstreamAuth, Partial<AccessFacts>, RegExp]> = [
    [{ type: 'service' }, { issuers: [] }, /^auth\.issuer is missing, and TRIVET_AUTH_ISSUERS is not set$/],
    [{ type: 'service' }, { client: undefined }, /or TRIVET_AUTH_CLIENT_ID with/],
    [{ type: 'service', clientId: 'a' }, {}, /belong together/],
    [{ type: 'service', issuer: 'https://other.example' }, {}, /is for that one alone$/],
    [EXCHANGE, { modes: ['tokens'] }, /needs TRIVET_AUTH with jwt or introspection/],
    [EXCHANGE, { modes: [] }, /needs TRIVET_AUTH with jwt or introspection/],
    [EXCHANGE, { modes: [], hasOwnAuthenticator: true }, /the program finds the principals itself/],
    [EXCHANGE, { client: undefined }, /needs TRIVET_AUTH_CLIENT_ID with/],
    [EXCHANGE, { issuers: ['https://a.example', 'https://b.example'] }, /would learn TRIVET_AUTH_CLIENT_SECRET/],
    [{ type: 'exchange' }, {}, /an audience, a resource or scopes/],
    [{ type: 'exchange' }, { form: 'on-behalf-of' }, /api:\/\/crm\/\.default/],
    [{ type: 'exchange', audience: 'api://crm', resource: 'a' }, { form: 'on-behalf-of' }, /auth\.resource/],
    [{ type: 'claims' }, {}, /needs headers or jwt/],
    [{ type: 'claims', headers: () => ({}) }, { modes: ['none'] }, /anonymous callers have no claims/],
    [{ type: 'claims', jwt: { audience: 'crm' } }, { publicUrl: undefined }, /needs TRIVET_PUBLIC_URL/]
  ]
  for (const [auth, facts, problem] of bad) {
    const found = problemsOf(auth, { ...JWT, ...facts })
    t.equal(found.length, 1, `${JSON.stringify(auth)}: ${found.join('; ')}`)
    t.match(found[0], problem)
  }
})
