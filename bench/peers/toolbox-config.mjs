// The tools as a configuration of mcp-toolbox's, whose tools are statements for a database.

import { writeFile } from 'node:fs/promises'
import { tools } from '../catalog/definitions.mjs'

/** Each tool answers with a text of its own and the arguments that it got, but for those that are lists. */
export async function writeToolboxConfig (file, toolCount) {
  const documents = [{ kind: 'source', name: 'memory', type: 'sqlite', database: ':memory:' }, ...tools(toolCount).map(toTool)]
  await writeFile(file, documents.map((document) => JSON.stringify(document, undefined, 2)).join('\n---\n'))
}

function toTool ({ name, description, inputSchema: { properties, required } }) {
  const parameters = Object.entries(properties).filter(([, { type }]) => type !== 'array').map(([property, schema]) => (
    { name: property, type: schema.type, description: schema.description, ...!required.includes(property) && { required: false } }
  ))
  const columns = parameters.map((_, index) => `$${index + 1} AS value_${index + 1}`)
  const statement = `SELECT ${[`'${name}' AS tool`, ...columns].join(', ')}`
  return { kind: 'tool', name, type: 'sqlite-sql', source: 'memory', description, statement, parameters }
}
