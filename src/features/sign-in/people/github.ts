// GitHub as an identity provider: it has OAuth, but no ID tokens. Its API says who the person is.
// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps

import { hash } from 'node:crypto'
import { clock } from '../../../base/time.ts'
import { quote } from '../../../base/words.ts'
import { AuthenticationUnavailable, reasonOf } from '../../../platform/access/authentication.ts'
import { createBoundedFetch, FETCH_LIMITS } from '../../../platform/access/bounded-fetch.ts'
import type { Claims } from '../../../platform/access/claims.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import {
  SignInRefused, type VouchedClaims, type IdentityProvider, type IdentityProviderOptions, type ProviderTokens
} from './identity-provider.ts'

const PAGE_SIZE = 100
/** The most pages of organizations or teams. */
const MAX_PAGES = 10

export function createGithub (
  { issuer, client: { clientId, secret }, redirectUri, scopes, claimNames }: IdentityProviderOptions
): IdentityProvider {
  if (secret === undefined) throw new TypeError('GitHub takes a client secret, and no private key')
  const credentials = { client_id: clientId, client_secret: secret }
  const { origin, hostname } = new URL(issuer)
  // A server of a company has its API below its own address.
  const api = hostname === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`
  const fetch = createBoundedFetch(FETCH_LIMITS)
  const asksGroups = claimNames.some((name) => name !== 'sub' && name !== 'login')

  async function ask (path: string, token: string): Promise<unknown> {
    const response = await fetch(`${api}${path}`, {
      headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${token}` }
    })
    if (response.status !== 200) throw new Error(`${api}${path} answers with ${response.status}`)
    return await response.json()
  }

  function failIdentity (error: unknown): never {
    throw new AuthenticationUnavailable(`${issuer} gives no identity: ${reasonOf(error)}`)
  }

  async function askForAll (path: string, token: string): Promise<readonly Claims[]> {
    const all: Claims[] = []
    for (let page = 1; page <= MAX_PAGES; page++) {
      const items = await ask(`${path}?per_page=${PAGE_SIZE}&page=${page}`, token)
      if (!Array.isArray(items)) throw new Error(`${api}${path} answers with no list`)
      all.push(...items.filter(isObject))
      if (items.length < PAGE_SIZE) break
    }
    return all
  }

  async function redeem (form: Record<string, string>): Promise<ProviderTokens> {
    const body = new URLSearchParams({ ...credentials, ...form })
    const response = await fetch(`${origin}/login/oauth/access_token`, {
      method: 'POST', headers: { accept: 'application/json' }, body
    })
    const answer: unknown = await response.json()
    const {
      access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, error
    } = isObject(answer) ? answer : {}
    // An error has the status 200 too.
    if (error === 'bad_refresh_token') throw new SignInRefused(error)
    if (typeof accessToken !== 'string') throw new Error(`no access token: ${quote(String(error))}`)
    return {
      accessToken,
      ...(typeof refreshToken === 'string' && { refreshToken }),
      ...(typeof seconds === 'number' && { expiresAt: clock.now() + seconds * 1000 })
    }
  }

  /** Asks who the person of the token is. */
  async function identify ({ accessToken }: ProviderTokens): Promise<VouchedClaims> {
    const [user, organizations, teams] = await Promise.all([
      ask('/user', accessToken),
      asksGroups ? askForAll('/user/orgs', accessToken) : [],
      claimNames.includes('teams') ? askForAll('/user/teams', accessToken) : []
    ])
    const { id, login } = isObject(user) ? user : {}
    if (typeof id !== 'number') throw new Error(`${api}/user names nobody`)
    return {
      claims: {
        // A login can change, and somebody else can take it then.
        sub: String(id),
        login,
        organizations: organizations.flatMap(loginsOf),
        organization_ids: organizations.map((organization) => String(organization['id'])),
        teams: teams.flatMap(({ organization, slug }) => (
          loginsOf(isObject(organization) ? organization : {}).map((login) => `${login}/${String(slug)}`)
        ))
      }
    }
  }

  return {
    issuer,
    async begin ({ state, codeVerifier }) {
      const url = new URL(`${origin}/login/oauth/authorize`)
      url.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: [...asksGroups ? ['read:org'] : [], ...scopes].join(' '),
        state,
        code_challenge: hash('sha256', codeVerifier, 'base64url'),
        code_challenge_method: 'S256'
      }).toString()
      return url.href
    },
    async end (query, { state, codeVerifier }) {
      const { searchParams: answer } = new URL(query, redirectUri)
      const error = answer.get('error')
      if (error !== null) throw new SignInRefused(error)
      try {
        const [code, ...otherCodes] = answer.getAll('code')
        if (answer.get('state') !== state || code === undefined || otherCodes.length > 0) {
          throw new Error('the answer is not for this way')
        }
        const tokens = await redeem({ code, redirect_uri: redirectUri, code_verifier: codeVerifier })
        return { ...await identify(tokens), tokens }
      } catch (error) {
        return failIdentity(error)
      }
    },
    /** Only tokens of GitHub Apps expire, and have a refresh token. */
    async renew (refreshToken, before) {
      try {
        const tokens = await redeem({ grant_type: 'refresh_token', refresh_token: refreshToken })
        return {
          tokens,
          async identify () {
            const identity = await identify(tokens).catch(failIdentity)
            if (identity.claims['sub'] !== before.claims['sub']) throw new SignInRefused('another subject')
            return identity
          }
        }
      } catch (error) {
        if (error instanceof SignInRefused) throw error
        throw new AuthenticationUnavailable(`${issuer} renews no token: ${reasonOf(error)}`)
      }
    }
  }
}

/** Letters of both cases are the same login. Rules have small ones too. */
function loginsOf ({ login }: Claims): readonly string[] {
  return [String(login), String(login).toLowerCase()]
}
