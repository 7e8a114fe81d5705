// The extension io.modelcontextprotocol/ui: screens that hosts show for the results of tools.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

/** The type of a screen. */
export const APP_TYPE = 'text/html;profile=mcp-app'

/** What a host declares that shows screens. The service declares the same if its catalog has some. */
export const APPS_CAPABILITY = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_TYPE] } } }

/** The callers of a tool: the model, or screens of the same service. */
export type ToolVisibility = 'model' | 'app'

/** The member `_meta.ui` of a tool. */
export interface AppToolMeta {
  resourceUri?: string
  visibility?: readonly ToolVisibility[]
}

/** The origins that a screen may use. Hosts make a Content Security Policy of them. */
export interface AppCsp {
  connectDomains?: readonly string[]
  /** `data:` too: some hosts show no image in the page without it, and no host loads a font. */
  resourceDomains?: readonly string[]
  frameDomains?: readonly string[]
  baseUriDomains?: readonly string[]
}

const HOST = String.raw`(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?`
const ORIGIN = new RegExp(`^(?:https?|wss?)://${HOST}$`, 'i')

/** Without a path and without characters that would end the directive that a host makes of it. */
function isOrigin (text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text.replace('*.', ''))
}

/** The source of files that are in the page itself, as URLs. */
export const DATA_SOURCE = 'data:'

/** Whether a list of `AppCsp` may have the text. */
export function isSource (list: string, text: string): boolean {
  return isOrigin(text) || (list === 'resourceDomains' && text === DATA_SOURCE)
}

export const APP_PERMISSIONS = ['camera', 'microphone', 'geolocation', 'clipboardWrite'] as const

/** Each permission by its name in the `allow` attribute of a frame. */
export const APP_FEATURES: { readonly [P in typeof APP_PERMISSIONS[number]]: string } = {
  camera: 'camera', microphone: 'microphone', geolocation: 'geolocation', clipboardWrite: 'clipboard-write'
}

/** The member `_meta.ui` of a screen. */
export interface AppResourceMeta {
  csp?: AppCsp
  permissions?: { [K in typeof APP_PERMISSIONS[number]]?: object }
  domain?: string
  prefersBorder?: boolean
}

/**
 * Hosts that were built before the specification was stable read this key in the `_meta` of a tool. The
 * official host library reads it if there is no `ui.resourceUri`.
 */
export const META_APP_URI = 'ui/resourceUri'
