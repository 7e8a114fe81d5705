// The origins of a host: its page, the sandbox of its screens, and one that no screen may reach.

import type { RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Test } from 'tap'
import type { AppCsp } from '../../src/platform/protocol/apps.ts'
import { serveLocally } from '../helpers/local-server.ts'

export interface HostOrigins {
  /** The URL of its page. */
  readonly page: string
  /** The URL of its sandbox. */
  readonly sandbox: string
  readonly stranger: string
  /** The paths that were asked of the stranger. */
  readonly asked: readonly string[]
}

export async function startHost (t: Test): Promise<HostOrigins> {
  const entry = fileURLToPath(new URL('host.mjs', import.meta.url))
  const { outputFiles: [script] } = await build({
    entryPoints: [entry], bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'error'
  })
  const asked: string[] = []
  const [page, sandbox, stranger] = await Promise.all([
    serve(t, (request, response) => {
      const isScript = request.url === '/host.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script?.text : PAGE)
    }),
    serve(t, (request, response) => {
      const csp: AppCsp | null = JSON.parse(new URL(request.url ?? '', 'http://x').searchParams.get('csp') ?? '')
      response.setHeader('content-type', 'text/html')
      response.setHeader('content-security-policy', toPolicy(csp))
      response.end(SANDBOX)
    }),
    serve(t, (request, response) => {
      asked.push(request.url ?? '')
      response.setHeader('access-control-allow-origin', '*')
      response.end('reached')
    })
  ])
  return { page, sandbox, stranger, asked }
}

async function serve (t: Test, listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await serveLocally(t, listener)}`
}

/** As the specification says that hosts make it, section "Content Security Policy Enforcement". */
function toPolicy (csp: AppCsp | null): string {
  if (csp === null) {
    return "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
      "img-src 'self' data:; media-src 'self' data:; connect-src 'none'"
  }
  const list = (origins: readonly string[] = []) => origins.join(' ')
  const resources = list(csp.resourceDomains)
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${resources}`,
    `style-src 'self' 'unsafe-inline' ${resources}`,
    `connect-src 'self' ${list(csp.connectDomains)}`,
    `img-src 'self' data: ${resources}`,
    `font-src 'self' ${resources}`,
    `media-src 'self' data: ${resources}`,
    `frame-src ${list(csp.frameDomains) || "'none'"}`,
    "object-src 'none'",
    `base-uri ${list(csp.baseUriDomains) || "'self'"}`
  ].join('; ')
}

const PAGE = `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,">
<body style="margin: 24px; background: #fff"><script type="module" src="/host.js"></script>`

/** Forwards all messages but its own, and runs the screen with no rights but those of scripts. */
const SANDBOX = `<!doctype html><html lang="en"><title>Sandbox</title><body style="margin: 0"><script>
const frame = document.createElement('iframe')
frame.sandbox = 'allow-scripts'
frame.style.cssText = 'width: 100vw; height: 100vh; border: 0; display: block'
document.body.append(frame)
addEventListener('message', ({ source, data }) => {
  if (source === frame.contentWindow) return parent.postMessage(data, '*')
  if (source !== parent) return
  if (data.method === 'ui/notifications/sandbox-resource-ready') frame.srcdoc = data.params.html
  else frame.contentWindow.postMessage(data, '*')
})
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*')
</script>`
