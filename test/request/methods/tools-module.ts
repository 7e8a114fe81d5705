// Tools for the tests, and calls of them.

/** The text of a module of tools without arguments. `options` and `run` are source text. */
export function toolsModule (
  tools: { readonly [name: string]: { readonly options?: string, readonly run: string } }
): string {
  const definitions = Object.entries(tools).map(([name, { options, run }]) => {
    const members = [`name: '${name}'`, "description: 'A tool.'", ...options === undefined ? [] : [options]]
    return `export const ${name} = defineTool({ ${members.join(', ')}, run: ${run} })`
  })
  return ["import { defineTool, ToolError, toolResult } from 'trivet'", ...definitions].join('\n')
}

export const call = (name: string, args?: object) => ({
  method: 'tools/call', params: { name, ...(args === undefined ? {} : { arguments: args }) }
})
