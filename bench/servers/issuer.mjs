// An issuer of access tokens: publishes its metadata and its key, and signs tokens.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

const HEADER = { alg: 'RS256', kid: 'key', typ: 'at+jwt' }

export async function startIssuer () {
  const { publicKey, privateKey } = await generateKeyPair(HEADER.alg)
  const jwk = { ...await exportJWK(publicKey), alg: HEADER.alg, kid: HEADER.kid, use: 'sig' }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const metadata = { issuer: url, jwks_uri: `${url}/keys` }
    response.end(JSON.stringify(request.url === '/keys' ? { keys: [jwk] } : metadata))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  const audience = 'https://bench.example/mcp'
  return {
    url,
    audience,
    sign: (subject) => new SignJWT({ client_id: 'bench' }).setProtectedHeader(HEADER).setIssuer(url)
      .setAudience(audience).setSubject(subject).setIssuedAt().setExpirationTime('2h').sign(privateKey),
    stop () {
      server.close()
      server.closeAllConnections()
    }
  }
}
