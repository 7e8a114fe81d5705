// Talks with the host that shows this screen: JSON-RPC messages over postMessage.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

const PROTOCOL_VERSION = '2026-01-26'

/**
 * Begins the conversation with the host. The listeners are called by the names of the host's notifications,
 * without `ui/notifications/`: `tool-input`, `tool-result`, `tool-cancelled`, `host-context-changed`.
 */
export async function connect (appInfo, listeners = {}) {
  const waiting = new Map()
  let lastId = 0
  let context = {}

  const post = (message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*')

  function notify (method, params = {}) {
    post({ method, params })
  }

  function request (method, params = {}) {
    const id = ++lastId
    post({ id, method, params })
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }

  function receive ({ id, method, params, result, error }) {
    if (method === undefined) {
      const { resolve, reject } = waiting.get(id) ?? {}
      waiting.delete(id)
      if (error === undefined) resolve?.(result)
      else reject?.(new Error(error.message))
    } else if (id === undefined) {
      if (method === 'ui/notifications/host-context-changed') adopt(params)
      listeners[method.replace('ui/notifications/', '')]?.(params)
    } else if (method === 'ping' || method === 'ui/resource-teardown') {
      post({ id, result: {} })
    } else {
      post({ id, error: { code: -32601, message: 'Method not found' } })
    }
  }

  /** Takes over the look of the host. Later messages have only what has changed. */
  function adopt (changes) {
    context = { ...context, ...changes }
    const { style } = document.documentElement
    style.colorScheme = context.theme ?? ''
    for (const [name, value] of Object.entries(context.styles?.variables ?? {})) {
      if (value === undefined) style.removeProperty(name)
      else style.setProperty(name, value)
    }
    const { height, maxHeight } = context.containerDimensions ?? {}
    style.height = height === undefined ? '' : '100vh'
    style.maxHeight = maxHeight === undefined ? '' : `${maxHeight}px`
  }

  window.addEventListener('message', ({ source, data }) => {
    if (source === window.parent && data?.jsonrpc === '2.0') receive(data)
  })

  const { hostContext = {}, hostCapabilities = {} } = await request('ui/initialize', {
    protocolVersion: PROTOCOL_VERSION, appInfo, appCapabilities: { availableDisplayModes: ['inline'] }
  })
  adopt(hostContext)
  notify('ui/notifications/initialized')
  reportSize(notify)

  return {
    hostCapabilities,
    get context () { return context },
    notify,
    request,
    /** Calls a tool of the service. Throws what the tool says if it fails. */
    async call (name, args) {
      const { content, structuredContent, isError } = await request('tools/call', { name, arguments: args })
      if (isError) throw new Error(content.map(({ text = '' }) => text).join(' '))
      return structuredContent
    }
  }
}

/** Tells the host how much room the screen needs, and each change of it. */
function reportSize (notify) {
  let last
  new window.ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height)
    const width = window.innerWidth
    if (last === `${width} ${height}`) return
    last = `${width} ${height}`
    notify('ui/notifications/size-changed', { width, height })
  }).observe(document.body)
}
