// What it costs to verify the token of a request by `sign-in`, beside `jwt`: CPU in one process, in turns.
// Measures the build in dist/. Run it with `npm run build && node bench/sign-in-costs.mjs`.

import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { SignJWT } from 'jose'
import { spread } from './figures/stats.mjs'
import { importInner } from './state/inner-modules.mjs'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const TOKENS = 1000
const ROUNDS = 100
const REQUESTS_EACH = 5000
const ISSUER = 'https://bench.example'
const RESOURCE = `${ISSUER}/mcp`
const YEAR_MS = 365 * 86_400_000
/** Longer than a look at a grant counts. */
const STEP_MS = 2001

const load = async (path) => await importInner(MAIN, path)
const { createBearerAuthenticator } = await load('platform/access/bearer-authenticator')
const { createKnownJwtVerifier } = await load('platform/access/jwt-verifier')
const { PRESETS } = await load('platform/access/token-rules')
const { createMemoryStateStore } = await load('platform/store/backends/memory/state-store')
const { createSealer } = await load('platform/store/sealing/sealer')
const { createSigningKeys } = await load('platform/store/sealing/signing-keys')
const { createGrantRecords } = await load('features/sign-in/grants/grant-records')
const { createOwnTokenVerifier } = await load('features/sign-in/grants/own-tokens')

const { current, jwks } = createSigningKeys(createSealer(['a secret of a benchmark']), 'sign-in')
const grants = createGrantRecords(createMemoryStateStore(), { idleMs: YEAR_MS })
const keys = JSON.parse(jwks)

/** Each token is of another person and of another grant. */
async function createToken (_, number) {
  const subject = `subject-${number}`
  const grant = grants.newId(subject)
  const about = { clientName: 'Bench', createdAt: Date.now() }
  await grants.create(grant, { grant: {}, about, endsAt: Date.now() + YEAR_MS, provider: { sealed: 'x' } })
  await grants.change(grant, (record) => record, { isUse: true })
  return await new SignJWT({ client_id: `client-${number}`, scope: 'one two', grant })
    .setProtectedHeader({ alg: 'ES256', kid: current.publicKey.kid, typ: 'at+jwt' })
    .setIssuer(ISSUER).setAudience(RESOURCE).setSubject(subject).setIssuedAt()
    .setExpirationTime(new Date(Date.now() + YEAR_MS)).sign(current.privateKey)
}
const tokens = await Promise.all(Array.from({ length: TOKENS }, createToken))
const headers = tokens.map((token) => `Bearer ${token}`)

const known = { issuer: ISSUER, audiences: [RESOURCE], jwks: keys }
const jwt = () => createKnownJwtVerifier(known, PRESETS.standard)
const signIn = () => createOwnTokenVerifier({ issuer: ISSUER, resource: RESOURCE, jwks: keys, grants })

/** The time of the authenticator stands still, or goes on so far in each lap that each token is looked at. */
function createContender (name, verifier, stepMs) {
  const time = { now: Date.now() }
  const authenticator = createBearerAuthenticator([verifier], { now: () => time.now })
  return { name, authenticator, time, stepMs, costs: [] }
}

const contenders = [
  createContender('jwt', jwt(), 0),
  createContender('sign-in, never looked at', signIn(), 0),
  createContender('sign-in, always looked at', signIn(), STEP_MS)
]

async function measure ({ authenticator, time, stepMs }, first) {
  const startedAt = process.cpuUsage()
  for (let number = 0; number < REQUESTS_EACH; number++) {
    const place = (first + number * 7) % TOKENS
    if (number % TOKENS === 0) time.now += stepMs
    await authenticator.authenticate(headers[place])
  }
  const { user, system } = process.cpuUsage(startedAt)
  return (user + system) / REQUESTS_EACH
}

for (const contender of contenders) await measure(contender, 0)
for (let round = 0; round < ROUNDS; round++) {
  for (let turn = 0; turn < contenders.length; turn++) {
    const contender = contenders[(round + turn) % contenders.length]
    contender.costs.push(await measure(contender, round))
  }
}

console.log(`Node ${process.version}, load average ${loadavg().map((load) => load.toFixed(1)).join(', ')}\n`)
console.log('| Token | CPU, µs: median | lowest decile |\n| --- | --- | --- |')
for (const { name, costs } of contenders) {
  const { median, quiet } = spread(costs)
  console.log(`| ${name} | ${median.toFixed(2)} | ${quiet.toFixed(2)} |`)
}
