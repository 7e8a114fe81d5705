// A user at a browser, who signs in at an authorization server of ../servers/authorization-server.ts.

/**
 * Opens the URL of an authorization request, signs in as the user, consents, and follows the server to the
 * redirect URI of the client. Resolves to that URI, with the code or the error in its query. `declines`: the
 * user refuses the consent.
 */
export async function signInAt (
  url: URL, user: string, { declines = false }: { readonly declines?: boolean } = {}
): Promise<URL> {
  const redirectUri = url.searchParams.get('redirect_uri') ?? ''
  const cookies = new Map<string, string>()
  let next = url
  let answer = await visit(next, cookies)
  for (let steps = 0; steps < 12; steps++) {
    if (answer.status === 200) {
      const page = await answer.text()
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
      if (prompt === undefined) throw new Error(`the server shows an error: ${page}`)
      answer = declines && prompt === 'consent'
        ? await visit(new URL(`${next.href}/abort`), cookies)
        : await visit(next, cookies, new URLSearchParams({ prompt, login: user, password: 'any' }))
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`${next.href} answered ${answer.status}: ${await answer.text()}`)
    next = new URL(location, next)
    if (next.href.startsWith(redirectUri)) return next
    answer = await visit(next, cookies)
  }
  throw new Error('the server redirects in circles')
}

async function visit (url: URL, cookies: Map<string, string>, form?: URLSearchParams): Promise<Response> {
  const answer = await fetch(url, {
    method: form === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    ...(form !== undefined && { body: form })
  })
  for (const line of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
  return answer
}
