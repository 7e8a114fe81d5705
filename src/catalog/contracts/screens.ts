// What changed of the screens of tools, and of who may call a tool.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

import type { AppToolMeta, ToolVisibility } from '../../platform/protocol/apps.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Tool } from '../../platform/protocol/primitives.ts'
import type { Offered } from './offered.ts'

const CALLERS: { readonly [K in ToolVisibility]: string } = { model: 'models', app: 'screens' }

export function compareScreens (
  before: Tool, after: Tool, describe: (isBreaking: boolean, rule: string) => void
): void {
  const [old, next] = [readUi(before), readUi(after)]
  for (const caller of ['model', 'app'] as const) {
    if (mayCall(old, caller) && !mayCall(next, caller)) describe(true, `is no longer for ${CALLERS[caller]}`)
  }
  const { resourceUri } = next
  if (old.resourceUri === resourceUri) return
  // The result of the tool says everything by itself.
  const isGone = resourceUri === undefined
  describe(false, isGone ? 'no longer has a screen' : `has the screen ${String(resourceUri)}`)
}

/** Whether the URI is that of a screen that no tool names: hosts find screens by their tools. */
export function isUnusedScreen (uri: string, { tool }: Offered): boolean {
  return uri.startsWith('ui://') &&
    ![...tool.values()].some(({ json }) => readUi(JSON.parse(json)).resourceUri === uri)
}

/** A service at a URL may send anything. */
function readUi ({ _meta }: Tool): { readonly [K in keyof AppToolMeta]?: unknown } {
  return isObject(_meta?.ui) ? _meta.ui : {}
}

function mayCall (
  { visibility }: { readonly visibility?: unknown }, caller: ToolVisibility
): boolean {
  return !Array.isArray(visibility) || visibility.includes(caller)
}
