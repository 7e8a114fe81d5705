// Opens a page that shows screens, and the sandbox of the console on another origin of the same port.

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Frame, Page } from 'playwright-core'
import type { Test } from 'tap'
import { toSandbox } from '../../../src/edges/console/sandbox.ts'
import { openPage } from '../../browser/chromium.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { serveLocally } from '../../helpers/local-server.ts'
import { startService } from '../../helpers/service.ts'

export interface ScreenPage {
  readonly page: Page
  /** The URL of the MCP endpoint. */
  readonly service: string
  readonly sandbox: string
  /** An origin that no screen may reach. */
  readonly stranger: string
  /** The paths that were asked of the stranger. */
  readonly asked: readonly string[]
  /** Errors of the page and its frames, and errors that the browser wrote. */
  readonly problems: readonly string[]
  /** Opens the page anew: nothing was shown, and nothing was told. */
  reload (): Promise<void>
  /** What the page was told. */
  seen (): Promise<Seen>
  /** Calls the tool and shows its screen. `changes` is the text of an object. */
  show (tool: string, args?: object, changes?: string): Promise<Frame>
}

interface Seen {
  readonly contexts: readonly string[]
  readonly messages: readonly string[]
  readonly links: readonly string[]
  readonly logs: readonly string[]
  readonly requests: ReadonlyArray<{ readonly method: string, readonly params: object }>
}

/** @param catalog the folder of a catalog, or its files. */
export async function openScreenPage (t: Test, catalog: string | Files): Promise<ScreenPage> {
  const root = typeof catalog === 'string' ? catalog : await writeCatalog(t, catalog)
  const asked: string[] = []
  const strangerPort = await serveLocally(t, (request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('content-type', 'text/html')
    response.end(STRANGER)
  })
  const script = await bundle('screen-page.mjs')
  const port = await serveLocally(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    if (pathname === '/console/sandbox') {
      const sandbox = toSandbox(searchParams.get('csp') ?? '', 'key')
      response.writeHead(sandbox === undefined ? 400 : 200, sandbox?.headers)
      response.end(sandbox?.html)
    } else {
      const [type, text] = pathname === '/page.js' ? ['text/javascript', script] : ['text/html', PAGE]
      response.writeHead(200, { 'content-type': type, 'content-security-policy': policy })
      response.end(text)
    }
  })
  const [origin, sandboxOrigin] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  const stranger = `http://127.0.0.1:${strangerPort}`
  const { url: service } = await startService(t, { TRIVET_CATALOG: root, TRIVET_ALLOWED_ORIGINS: origin })
  // As that of the console, but for the endpoint, which has another port, and the stranger.
  const policy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
    `connect-src 'self' ${new URL(service).origin}; img-src 'self' data: blob:; media-src data: blob:; ` +
    `font-src 'self'; frame-src ${sandboxOrigin} ${stranger}; form-action 'none'; base-uri 'none'; ` +
    "frame-ancestors 'none'"

  const page = await openPage(t)
  const problems: string[] = []
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()) })
  page.on('pageerror', (error) => problems.push(String(error)))
  const sandbox = `${sandboxOrigin}/console/sandbox`
  const reload = async () => {
    await page.goto(`${origin}/?${new URLSearchParams({ service, sandbox })}`)
    await until(page, 'window.show !== undefined')
  }
  await reload()
  return {
    page,
    service,
    sandbox,
    stranger,
    asked,
    problems,
    reload,
    seen: async () => await page.evaluate('seen') as Seen,
    async show (tool, args = {}, changes = '{}') {
      await page.evaluate(`show(${JSON.stringify(tool)}, ${JSON.stringify(args)}, ${changes})`)
      const outer = await page.locator('main iframe').elementHandle()
      const sandboxFrame = await outer?.contentFrame()
      const inner = await sandboxFrame?.locator('iframe').elementHandle()
      const frame = await inner?.contentFrame()
      if (frame === null || frame === undefined) throw new Error('no screen is shown')
      return frame
    }
  }
}

/** Waits until the code is true there. Playwright evaluates texts when it waits, which policies forbid. */
export async function until (where: Page | Frame, condition: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    // A frame that loads itself again has no context for a while.
    if (await where.evaluate(condition).catch(() => false) === true) return
    await pause(20)
  }
  throw new Error(`not true within 10 seconds: ${condition}`)
}

/** Bundles a module of this folder for the browser, as one script. */
export async function bundle (name: string): Promise<string> {
  const { outputFiles: [script] } = await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'error'
  })
  return script?.text ?? ''
}

const PAGE = `<!doctype html><html lang="en"><title>Page</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><main></main><script src="/page.js"></script>`

/** Tells whoever shows it that it is a screen. */
const STRANGER = `<!doctype html><script>
parent.postMessage({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'stranger' } }, '*')
</script>`
