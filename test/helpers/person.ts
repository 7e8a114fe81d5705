// A person at a browser: keeps cookies, follows redirects and pages that go on by themselves, and answers the
// forms of the service and of ../servers/authorization-server.ts.

export interface PersonOptions {
  /** Signs in at the identity provider as this. */
  readonly name?: string
  readonly answer?: 'allow' | 'cancel'
  /** What the desk of `trivet dev` is told. */
  readonly claims?: object
}

export interface Visit {
  readonly url: URL
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

export type Person = ReturnType<typeof createPerson>

const MAX_STEPS = 20

export function createPerson ({ name = 'alice', answer = 'allow', claims = {} }: PersonOptions = {}) {
  const jars = new Map<string, Map<string, string>>()

  async function visit (url: URL, form?: URLSearchParams): Promise<Visit> {
    const jar = jars.get(url.origin) ?? new Map<string, string>()
    jars.set(url.origin, jar)
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        ...(form !== undefined && { origin: url.origin }),
        cookie: [...jar].filter(([key]) => isFor(url, key)).map(([key, value]) => `${toName(key)}=${value}`).join('; ')
      },
      ...(form !== undefined && { body: form })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/'
      if (value === '' || /expires=thu, 01 jan 1970/i.test(line)) jar.delete(`${path} ${cookie}`)
      else jar.set(`${path} ${cookie}`, value)
    }
    return { url, status: response.status, text: await response.text(), headers: response.headers }
  }

  /** Goes on until a URL begins with `until`, or until a page has nothing to answer. */
  async function follow (start: URL, until: string): Promise<Visit> {
    let page = await visit(start)
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = page.headers.get('location') ?? /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.text)?.[1]
      if (next !== undefined && next !== null) {
        const url = new URL(next.replaceAll('&amp;', '&'), page.url)
        if (url.href.startsWith(until)) return { ...page, url }
        page = await visit(url)
        continue
      }
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1]
      if (prompt !== undefined) {
        page = await visit(page.url, new URLSearchParams({ prompt, login: name, password: 'any' }))
      } else if (page.status === 200 && page.text.includes('name="answer"')) {
        const [, token = ''] = /name="token" value="([^"]+)"/.exec(page.text) ?? []
        page = await visit(page.url, new URLSearchParams({ answer, token }))
      } else if (page.status === 200 && page.text.includes('name="subject"')) {
        page = await visit(page.url, new URLSearchParams({ subject: name, claims: JSON.stringify(claims) }))
      } else return page
    }
    throw new Error(`the way goes in circles, now at ${page.url.href}`)
  }

  return { visit, follow, jars }
}

function isFor ({ pathname }: URL, key: string): boolean {
  const [path = '/'] = key.split(' ')
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}

function toName (key: string): string {
  return key.slice(key.indexOf(' ') + 1)
}
