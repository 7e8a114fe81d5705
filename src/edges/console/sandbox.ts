// The document between the page of the console and a screen. It has another origin than the page, and the
// screen in it has none.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#sandbox-proxy

import { APP_FEATURES, DATA_SOURCE, isSource, type AppCsp } from '../../platform/protocol/apps.ts'
import { createReader } from '../../platform/schema/reader.ts'
import { Type } from '../../platform/schema/type.ts'

interface SandboxDocument {
  readonly headers: { readonly [name: string]: string }
  readonly html: string
}

const origins = Type.Optional(Type.Array(Type.String(), { maxItems: 100 }))

const readCsp = createReader(
  Type.Object({
    connectDomains: origins, resourceDomains: origins, frameDomains: origins, baseUriDomains: origins
  }, { additionalProperties: false }),
  (problems) => new SyntaxError(problems.join('; '))
)

/**
 * Makes the document for a screen.
 * @param csp the `csp` of the screen as JSON: `null` for a screen without it
 * @param key what the document proves itself with: another program may answer at the other name of this
 * machine
 * @returns `undefined` if the text cannot be read, or if anything in it is no source that a screen may have
 */
export function toSandbox (csp: string, key: string): SandboxDocument | undefined {
  try {
    const declared = readCsp(JSON.parse(csp) ?? {})
    const lists = Object.entries(declared)
    if (!lists.every(([list, sources]) => sources.every((source) => isSource(list, source)))) return undefined
    return { headers: { ...HEADERS, 'content-security-policy': toPolicy(declared) }, html: toHtml(key) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff'
}

/** The pages that may show the document. A policy cannot name an IPv6 address. */
const PAGES = 'http://localhost:* http://127.0.0.1:*'

/**
 * The screen inherits the policy of this document, so the policy is that of the screen. It allows inline
 * scripts: a hash of the script below would forbid those of the screen. The `'self'` of the specification is
 * left out, because it would be the service.
 */
function toPolicy (
  { connectDomains = [], resourceDomains = [], frameDomains = [], baseUriDomains = [] }: AppCsp
): string {
  const toDirective = (name: string, sources: readonly string[], otherwise = "'none'") => {
    return `${name} ${sources.length === 0 ? otherwise : sources.join(' ')}`
  }
  const origins = resourceDomains.filter((source) => source !== DATA_SOURCE)
  return [
    "default-src 'none'",
    toDirective('script-src', ["'unsafe-inline'", ...origins]),
    toDirective('style-src', ["'unsafe-inline'", ...origins]),
    toDirective('img-src', [DATA_SOURCE, ...origins]),
    toDirective('media-src', [DATA_SOURCE, ...origins]),
    toDirective('font-src', resourceDomains),
    toDirective('connect-src', connectDomains),
    // Also keeps the screen from going to another address. Browsers apply no directive to WebRTC.
    toDirective('frame-src', frameDomains),
    toDirective('base-uri', baseUriDomains, "'self'"),
    "object-src 'none'",
    "form-action 'none'",
    `frame-ancestors ${PAGES}`
  ].join('; ')
}

/** The most characters of a message of a screen, as JSON. */
const MAX_MESSAGE_LENGTH = 1_000_000
/** How many messages a screen may send at once. */
const MAX_BURST = 1000
const MESSAGES_PER_SECOND = 200

/**
 * Shows one screen, and forwards messages both ways. The limits of messages are kept here, in the process of
 * the sandbox: the page never has what exceeds them in memory.
 */
const toScript = (key: string) => `(() => {
  const page = window.parent
  // Somebody has opened the document as a page.
  if (page === window) return
  const FEATURES = ${JSON.stringify(APP_FEATURES)}
  const MAX_LENGTH = ${MAX_MESSAGE_LENGTH}
  const RESERVED = 'ui/notifications/sandbox-'
  const { origin: own, hostname } = window.location
  const pageOrigins = ['localhost', '127.0.0.1'].map((name) => own.replace(hostname, name))
  let pageOrigin
  let allowance = ${MAX_BURST}
  let lastMessageAt = 0

  const frame = document.createElement('iframe')
  frame.title = 'Screen'
  // Never allow-same-origin: the screen would have the origin of the service.
  frame.sandbox = 'allow-scripts'

  window.addEventListener('message', ({ source, origin, data, timeStamp }) => {
    if (source === page && pageOrigins.includes(origin)) receiveFromPage(data, origin)
    else if (frame.isConnected && source === frame.contentWindow) receiveFromScreen(data, timeStamp)
  })

  const isReserved = (message) => typeof message?.method === 'string' && message.method.startsWith(RESERVED)
  const toPage = (message) => page.postMessage({ jsonrpc: '2.0', ...message }, pageOrigin ?? '*')
  // The origin of the screen has no name.
  const toScreen = (message) => frame.contentWindow?.postMessage({ jsonrpc: '2.0', ...message }, '*')

  function receiveFromPage (message, origin) {
    if (!isReserved(message)) return toScreen(message)
    if (message.method !== RESERVED + 'resource-ready' || frame.isConnected) return
    const { html, permissions = {} } = message.params
    pageOrigin = origin
    frame.allow = Object.keys(FEATURES).filter((name) => name in permissions)
      .map((name) => FEATURES[name]).join('; ')
    frame.srcdoc = html
    document.body.append(frame)
  }

  function isFlood (now) {
    allowance = Math.min(${MAX_BURST}, allowance + (now - lastMessageAt) / 1000 * ${MESSAGES_PER_SECOND}) - 1
    lastMessageAt = now
    return allowance < 0
  }

  function close (reason) {
    frame.remove()
    toPage({ method: RESERVED + 'closed', params: { reason } })
  }

  function receiveFromScreen (message, timeStamp) {
    if (isFlood(timeStamp)) {
      return close('The screen was closed: it may send ${MESSAGES_PER_SECOND} messages a second.')
    }
    if (isReserved(message)) return
    const json = toJson(message)
    if (json !== undefined && json.length <= MAX_LENGTH) return page.postMessage(JSON.parse(json), pageOrigin)
    const problem = 'A message of the screen was refused: ' + (json === undefined
      ? 'it is not JSON.'
      : 'it has ' + json.length + ' characters as JSON. The limit is ' + MAX_LENGTH + '.')
    toPage({ method: 'notifications/message', params: { level: 'error', logger: 'sandbox', data: problem } })
    const { id, method } = Object(message)
    if (id !== undefined && method !== undefined) toScreen({ id, error: { code: -32600, message: problem } })
  }

  function toJson (message) {
    try { return JSON.stringify(message) } catch { return undefined }
  }

  toPage({ method: RESERVED + 'proxy-ready', params: { key: ${JSON.stringify(key)} } })
})()`

const toHtml = (key: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Sandbox</title>
<style>body { margin: 0 } iframe { display: block; width: 100vw; height: 100vh; border: 0 }</style>
<body><script>${toScript(key)}</script>
`
