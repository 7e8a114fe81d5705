// The `_meta` of a tool in the list: what its author wrote, and who may call it and which screen shows it.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#resource-discovery

import type { ToolDefinition } from '../../../author/define-tool.ts'
import { META_APP_URI, type AppToolMeta } from '../../../protocol/apps.ts'
import type { Meta } from '../../../protocol/content.ts'
import type { ReportProblem } from '../problem.ts'

/**
 * `undefined` for a tool without any.
 * @param appUri of the app that the tool names.
 */
export function toToolMeta (
  { _meta, visibility }: ToolDefinition, appUri: string | undefined, report: ReportProblem
): Meta | undefined {
  if (visibility === undefined && appUri === undefined) return _meta
  if (_meta !== undefined && ('ui' in _meta || META_APP_URI in _meta)) {
    report('_meta.ui', 'is made from ui and visibility: remove it here')
  }
  const ui: AppToolMeta = {
    ...(appUri !== undefined && { resourceUri: appUri }), ...(visibility !== undefined && { visibility })
  }
  return { ..._meta, ui, ...(appUri !== undefined && { [META_APP_URI]: appUri }) }
}
