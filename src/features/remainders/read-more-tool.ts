// The tool of the service itself that serves what cuts have left out of results. It is in a list only beside
// a tool whose results may be cut.

import type { CatalogCompilerOptions } from '../../catalog/compiled/compile-catalog.ts'
import { compileTool } from '../../catalog/compiled/definitions/compile-tool.ts'
import { waysToSee } from '../../catalog/compiled/scopes/access-rule.ts'
import { defineTool } from '../../platform/author/define-tool.ts'
import { readCallLimits } from '../../platform/limits/call-limits.ts'

export const READ_MORE_TOOL = 'read_more'

const definition = defineTool({
  name: READ_MORE_TOOL,
  title: 'Read more of a result',
  description: 'Reads the next part of a result of another tool of this server that was too large and was ' +
    'cut. Call it only when a result says so, with the cursor that the result names.',
  inputSchema: {
    type: 'object',
    properties: { cursor: { type: 'string', description: 'The cursor, as the result names it.' } },
    required: ['cursor'],
    additionalProperties: false
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  // After the tools of the catalog.
  order: Number.MAX_SAFE_INTEGER,
  run () { throw new TypeError('unreachable: the service itself reads more') }
})

/** A caller that sees a tool whose results may be cut sees the service's own tool too. */
export const READ_MORE_OPTIONS: Pick<CatalogCompilerOptions, 'compileReadMoreTool'> = {
  compileReadMoreTool (tools, limits, compilers, report) {
    const cutsAll = readCallLimits(limits).cutBytes !== undefined
    const cutting = tools.filter((tool) => cutsAll || tool.limits.cutBytes !== undefined)
    if (cutting.length === 0) return undefined
    const compiled = compileTool({ definition, file: 'trivet' }, compilers, report)
    const ways = new Map(cutting.flatMap(waysToSee).map((scopes) => [JSON.stringify(scopes), scopes]))
    return compiled && { ...compiled, readsMore: true, seenWith: [...ways.values()] }
  }
}
