// GitHub for tests, as a server of a company: OAuth without ID tokens, and the parts of its API that say who
// a person is. The API answers in pages.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Test } from 'tap'

interface GithubUser {
  readonly id: number
  readonly login: string
  readonly orgs?: ReadonlyArray<{ readonly id: number, readonly login: string }>
  readonly teams?: ReadonlyArray<{ readonly slug: string, readonly organization: { readonly login: string } }>
}

interface Way { readonly user: GithubUser, readonly query: URLSearchParams }

/** @param user who signs in, at each moment. */
export async function startGithub (t: Test, user: () => GithubUser | 'access_denied') {
  const codes = new Map<string, Way>()
  const tokens = new Map<string, GithubUser>()
  const asked: string[] = []
  let status = 200

  function authorize (query: URLSearchParams): string {
    const back = new URL(query.get('redirect_uri') ?? '')
    back.searchParams.set('state', query.get('state') ?? '')
    const person = user()
    if (person === 'access_denied') back.searchParams.set('error', person)
    else {
      const code = randomBytes(10).toString('hex')
      codes.set(code, { user: person, query })
      back.searchParams.set('code', code)
    }
    return back.href
  }

  /** GitHub answers errors with the status 200 too. */
  function redeem (form: URLSearchParams): object {
    const way = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    if (form.get('client_id') !== 'trivet' || form.get('client_secret') !== 'trivet-secret') {
      return { error: 'incorrect_client_credentials' }
    }
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url')
    const fits = way?.query.get('code_challenge') === challenge &&
      way.query.get('redirect_uri') === form.get('redirect_uri')
    if (way === undefined || !fits) return { error: 'bad_verification_code' }
    const token = `gho_${randomBytes(10).toString('hex')}`
    tokens.set(token, way.user)
    return { access_token: token, token_type: 'bearer', scope: way.query.get('scope') }
  }

  function callApi (path: string, query: URLSearchParams, token: string): unknown {
    const person = tokens.get(token)
    if (person === undefined) return undefined
    const { orgs = [], teams = [], ...facts } = person
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 30)]
    const lists: Readonly<Record<string, readonly unknown[]>> = { '/user/orgs': orgs, '/user/teams': teams }
    return path === '/user' ? facts : lists[path]?.slice((page - 1) * size, page * size)
  }

  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', origin)
    asked.push(url.pathname)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      if (url.pathname === '/login/oauth/authorize') {
        response.writeHead(302, { location: authorize(url.searchParams) }).end()
        return
      }
      const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
      const answer = url.pathname === '/login/oauth/access_token'
        ? redeem(new URLSearchParams(String(Buffer.concat(chunks))))
        : callApi(url.pathname.replace('/api/v3', ''), url.searchParams, token)
      response.writeHead(answer === undefined ? 401 : status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? { message: 'Bad credentials' }))
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => { http.close() })
  const { port } = http.address() as { port: number }
  const origin = `http://127.0.0.1:${port}`
  return {
    issuer: origin,
    /** The paths of all requests. */
    asked,
    /** Answers all that is found with another status. */
    answerWith (other: number) { status = other }
  }
}
