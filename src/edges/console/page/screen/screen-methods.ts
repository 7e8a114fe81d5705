// What a screen may ask of the console, beside what the console passes on to the service.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#communication-protocol

import { isRecord, toPretty, type JsonObject } from '../connection/json.ts'
import { ScreenRefusal } from './screen-channel.ts'

export interface ScreenHost {
  /**
   * Sends an MCP request as the caller who opened the screen. Resolves to the complete result: questions of
   * a tool are answered on the page. Rejects with a JSON-RPC error.
   */
  request (method: string, params: object): Promise<object>
  /** Called with what the model would learn. The text takes the place of the text before it. */
  onContext (text: string): void
  /** Called with a message that the screen would send to the model in the name of the person. */
  onMessage (text: string): void
  /** Called with the URL of a link. The page asks the person before it opens the link. */
  onLink (url: string): void
}

/** The methods that the service answers, with the params that a screen may choose. */
const PASSED_ON: { readonly [method: string]: readonly string[] } = {
  'tools/call': ['name', 'arguments'],
  'resources/read': ['uri'],
  'resources/list': ['cursor'],
  'resources/templates/list': ['cursor'],
  'prompts/list': ['cursor']
}

const LINKS = ['https:', 'http:', 'mailto:']

/** @param initialize makes the result of `ui/initialize`. */
export function createAnswers (
  { request, onContext, onMessage, onLink }: ScreenHost, initialize: () => object
): (method: string, params: JsonObject) => Promise<object> {
  const mayCall = createVisibilityCheck(request)
  const methods = new Map<string, (params: JsonObject) => object>([
    ['ui/initialize', initialize],
    ['ping', () => ({})],
    ['ui/request-display-mode', () => ({ mode: 'inline' })],
    ['ui/update-model-context', ({ content, structuredContent }) => {
      onContext(toText(content, structuredContent))
      return {}
    }],
    ['ui/message', ({ content }) => {
      onMessage(toText(content))
      return {}
    }],
    ['ui/open-link', ({ url }) => {
      if (typeof url !== 'string' || !URL.canParse(url) || !LINKS.includes(new URL(url).protocol)) {
        throw new ScreenRefusal(-32602, 'A link must be a URL of https, http or mailto')
      }
      onLink(new URL(url).href)
      return {}
    }]
  ])

  return async (method, params) => {
    const answer = methods.get(method)
    if (answer !== undefined) return answer(params)
    if (!Object.hasOwn(PASSED_ON, method)) throw new ScreenRefusal(-32601, `Method not found: ${method}`)
    if (method === 'tools/call' && !await mayCall(params.name)) {
      throw new ScreenRefusal(-32602, `Screens may not call ${params.name}: its visibility lacks "app"`)
    }
    const names = (PASSED_ON[method] ?? []).filter((name) => params[name] !== undefined)
    return await request(method, Object.fromEntries(names.map((name) => [name, params[name]])))
  }
}

/**
 * Creates a check of the `visibility` of tools, which hosts must obey. The list is read again for a tool that
 * it refused or lacked, because the catalog may have changed.
 */
function createVisibilityCheck (request: ScreenHost['request']): (name: unknown) => Promise<boolean> {
  let visible: ReadonlyMap<unknown, boolean> = new Map()

  async function readTools (): Promise<ReadonlyMap<unknown, boolean>> {
    const tools = new Map<unknown, boolean>()
    let cursor: unknown
    do {
      const page = await request('tools/list', cursor === undefined ? {} : { cursor })
      const { tools: listed, nextCursor } = isRecord(page) ? page : {}
      for (const tool of Array.isArray(listed) ? listed : []) {
        if (isRecord(tool)) tools.set(tool.name, isForScreens(tool))
      }
      cursor = nextCursor
    } while (typeof cursor === 'string')
    return tools
  }

  return async (name) => {
    if (visible.get(name) !== true) visible = await readTools()
    // The service refuses a tool that it does not know.
    return visible.get(name) ?? true
  }
}

function isForScreens ({ _meta: meta }: JsonObject): boolean {
  const ui = isRecord(meta) && isRecord(meta.ui) ? meta.ui : {}
  return !Array.isArray(ui.visibility) || ui.visibility.includes('app')
}

/** Writes content blocks for people. Refuses what is not content. */
function toText (content: unknown, structuredContent?: unknown): string {
  const blocks = content === undefined && structuredContent !== undefined ? [] : [content].flat()
  const lines = blocks.map((block) => {
    if (!isRecord(block) || typeof block.type !== 'string') {
      throw new ScreenRefusal(-32602, 'content must be a list of content blocks')
    }
    return typeof block.text === 'string' ? block.text : `[${toName(block)}]`
  })
  if (structuredContent !== undefined) lines.push(toPretty(structuredContent))
  return lines.join('\n')
}

/** Names a block that is no text, such as `image, image/png`. */
function toName ({ type, name, uri, mimeType, resource }: JsonObject): string {
  const { uri: inner } = isRecord(resource) ? resource : {}
  return [type, name, uri ?? inner, mimeType].filter((part) => typeof part === 'string').join(', ')
}
