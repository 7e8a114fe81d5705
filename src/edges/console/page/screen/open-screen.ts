// Shows screens: the part of a host that the extension io.modelcontextprotocol/ui asks of web pages.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#lifecycle

import { APP_FEATURES } from '../../../../platform/protocol/apps.ts'
import type { JsonObject } from '../connection/json.ts'
import { createChannel } from './screen-channel.ts'
import { createAnswers, type ScreenHost } from './screen-methods.ts'

const PROTOCOL_VERSION = '2026-01-26'
const OPEN_TIMEOUT_MS = 10_000
const TEARDOWN_TIMEOUT_MS = 1000
const MAX_HEIGHT = 2000

export interface ScreenOptions extends ScreenHost {
  /** The URL of the sandbox without its query. Its origin is another one than that of the page. */
  readonly sandboxUrl: string
  /** What the first message of the sandbox must have. */
  readonly sandboxKey: string
  /** The screen as `resources/read` has it, with its `_meta.ui`. */
  readonly resource: { readonly text: string, readonly meta?: ScreenMeta | undefined }
  /** The tool as `tools/list` has it. */
  readonly tool: object
  readonly arguments: object
  /** The result of the call. */
  readonly result: object
  readonly theme: 'light' | 'dark'
  /** Removes a screen that has not initialised yet when it aborts. */
  readonly signal: AbortSignal
  /** Called with log messages of the screen, and with what the console has refused it. */
  onLog (level: string, text: string): void
}

interface ScreenMeta {
  readonly csp?: object
  readonly permissions?: object
  readonly prefersBorder?: boolean
}

export interface ShownScreen {
  setTheme (theme: 'light' | 'dark'): void
  /** Tells the screen the result of a later call. */
  setResult (result: object): void
  /** Lets the screen save its work, for a second at most, and removes it. */
  close (): Promise<void>
}

/** Shows a screen in `parent`. Resolves when the screen has initialised. Rejects with a reason for people. */
export async function openScreen (parent: HTMLElement, options: ScreenOptions): Promise<ShownScreen> {
  const { sandboxUrl, sandboxKey, resource: { text: html, meta = {} }, tool, signal, onLog } = options
  signal.throwIfAborted()
  const { csp, permissions } = meta
  const { origin } = new URL(sandboxUrl)
  if (origin === window.location.origin) {
    throw new Error(`The sandbox of screens must have another origin than the page, ${origin}.`)
  }
  const frame = createFrame(options)
  let { theme, result } = options
  let stage: 'loading' | 'starting' | 'shown' | 'closed' = 'loading'
  let closing: Promise<void> | undefined
  let settle = (_problem?: string): void => {}
  const settled = new Promise<string | undefined>((resolve) => { settle = resolve })

  const describeContainer = () => ({ width: frame.clientWidth, maxHeight: MAX_HEIGHT })
  const answer = createAnswers(options, () => ({
    protocolVersion: PROTOCOL_VERSION,
    hostInfo: { name: 'trivet-console', title: 'Trivet console', version: '1.0.0' },
    hostCapabilities: {
      openLinks: {},
      serverTools: {},
      serverResources: {},
      logging: {},
      updateModelContext: { text: {}, structuredContent: {} },
      message: { text: {} },
      sandbox: { ...(csp !== undefined && { csp }), ...(permissions !== undefined && { permissions }) }
    },
    hostContext: { ...describePage(), toolInfo: { tool }, theme, containerDimensions: describeContainer() }
  }))

  const channel = createChannel(frame, { origin, answer, receive })
  let width = 0
  const resizing = new ResizeObserver(() => {
    if (stage !== 'shown' || frame.clientWidth === width) return
    width = frame.clientWidth
    channel.notify('ui/notifications/host-context-changed', { containerDimensions: describeContainer() })
  })

  function receive (method: string, params: JsonObject): void {
    if (method === 'ui/notifications/sandbox-proxy-ready') start(params.key)
    if (method === 'ui/notifications/sandbox-closed') fail(String(params.reason))
    if (method === 'ui/notifications/initialized') show()
    if (method === 'ui/notifications/size-changed') resize(params.height)
    if (method === 'notifications/message') onLog(String(params.level ?? 'info'), toLogText(params.data))
    if (method === 'ui/notifications/request-teardown') {
      onLog('info', 'The screen asked to be closed.')
      close()
    }
  }

  function start (key: unknown): void {
    if (stage !== 'loading') return
    if (key !== sandboxKey) {
      fail(`Another program answers at ${origin}: end it, or give dev another PORT.`)
      return
    }
    stage = 'starting'
    channel.notify('ui/notifications/sandbox-resource-ready', { html, csp, permissions })
  }

  /** A screen that loads itself again initialises again, and needs all anew. */
  function show (): void {
    stage = 'shown'
    channel.notify('ui/notifications/tool-input', { arguments: options.arguments })
    channel.notify('ui/notifications/tool-result', result)
    settle()
  }

  function resize (height: unknown): void {
    if (typeof height !== 'number' || !(height >= 0)) return
    if (height > MAX_HEIGHT && frame.clientHeight < MAX_HEIGHT) {
      onLog('warning', `The screen asks for a height of ${height} px. It gets ${MAX_HEIGHT} px, and scrolls.`)
    }
    const borders = frame.offsetHeight - frame.clientHeight
    frame.style.height = `${Math.min(height, MAX_HEIGHT) + borders}px`
  }

  function fail (problem: string): void {
    if (stage === 'shown') onLog('error', problem)
    remove()
    settle(problem)
  }

  function remove (): void {
    stage = 'closed'
    channel.close()
    resizing.disconnect()
    frame.remove()
  }

  async function close (): Promise<void> {
    closing ??= (async () => {
      const reason = 'The console closes the screen.'
      if (stage === 'shown' && frame.isConnected) {
        await channel.request('ui/resource-teardown', { reason }, TEARDOWN_TIMEOUT_MS)
      }
      remove()
    })()
    await closing
  }

  parent.append(frame)
  resizing.observe(frame)
  const timer = window.setTimeout(
    () => fail(stage === 'loading' ? SILENT.sandbox : SILENT.screen), OPEN_TIMEOUT_MS
  )
  const abort = () => fail('It is not shown any more.')
  signal.addEventListener('abort', abort)
  const problem = await settled
  signal.removeEventListener('abort', abort)
  window.clearTimeout(timer)
  if (problem !== undefined) throw new Error(problem)
  return {
    setTheme (changed) {
      theme = changed
      frame.style.colorScheme = theme
      if (stage === 'shown') channel.notify('ui/notifications/host-context-changed', { theme })
    },
    setResult (changed) {
      result = changed
      if (stage === 'shown') channel.notify('ui/notifications/tool-result', result)
    },
    close
  }
}

const SILENT = {
  sandbox: 'The sandbox of the screen did not load within 10 seconds. The csp of the screen may be ' +
    'refused, or the browser may block frames of other origins.',
  screen: 'The screen did not initialise within 10 seconds. It must send ui/initialize, and ' +
    'ui/notifications/initialized after the answer. The browser shows errors of its scripts.'
}

function createFrame (
  { sandboxUrl, resource: { meta = {} }, tool, theme }: ScreenOptions
): HTMLIFrameElement {
  const { csp = null, permissions = {}, prefersBorder = true } = meta
  const { name, title = name }: JsonObject = { ...tool }
  const frame = document.createElement('iframe')
  frame.title = `Screen of ${title}`
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin')
  frame.allow = Object.entries(APP_FEATURES).filter(([name]) => name in permissions)
    .map(([, feature]) => feature).join('; ')
  frame.src = `${sandboxUrl}?csp=${encodeURIComponent(JSON.stringify(csp))}`
  Object.assign(frame.style, {
    display: 'block',
    boxSizing: 'border-box',
    width: '100%',
    height: '150px',
    border: prefersBorder ? '1px solid color-mix(in srgb, currentcolor 30%, transparent)' : '0',
    colorScheme: theme
  })
  return frame
}

function describePage (): object {
  const matches = (query: string) => window.matchMedia(query).matches
  return {
    displayMode: 'inline',
    availableDisplayModes: ['inline'],
    locale: window.navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    userAgent: 'trivet-console',
    platform: 'web',
    deviceCapabilities: { touch: matches('(any-pointer: coarse)'), hover: matches('(any-hover: hover)') }
  }
}

function toLogText (data: unknown): string {
  return typeof data === 'string' ? data : JSON.stringify(data) ?? ''
}
