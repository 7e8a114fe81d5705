// A module of a catalog. Its tools keep a list of names under a handle.

const INPUT = "{ type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } }"
const SCHEMA = `{
  type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } }, required: ['names']
}`

/** Four tools, such as `create_list`. `lifetimes` is the text of options of the handle. */
export function counterModule (kind: string, prefix: string, lifetimes: string): string {
  const tool = (verb: string, run: string) => `
export const ${verb}Tool = defineTool({
  name: '${verb}_${kind}', description: 'A tool.', inputSchema: ${INPUT},
  run: async ({ id = '', name = '' }, ctx) => ${run}
})`
  const add = '(draft) => { draft.names.push(name) }'
  return `
import { defineHandle, defineTool } from 'trivet'
export const handle = defineHandle({
  kind: '${kind}', prefix: '${prefix}', ${lifetimes}, createdBy: 'create_${kind}', schema: ${SCHEMA}
})
${tool('create', '(await ctx.handles(handle).create({ names: [] })).id')}
${tool('read', 'JSON.stringify((await ctx.handles(handle).read(id)).names)')}
${tool('change', `JSON.stringify((await ctx.handles(handle).update(id, ${add})).names)`)}
${tool('delete', '{ await ctx.handles(handle).delete(id); return "deleted" }')}
`
}
