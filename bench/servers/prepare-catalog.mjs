import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { workspacePath } from '../workspace.mjs'
import { listContenders } from './contenders.mjs'
import { recordAnswers } from './trivet.mjs'

/** Writes a catalog with `toolCount` tools, and lists the builds of Trivet and bare Fastify to serve it. */
export async function prepareCatalog (options, toolCount) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, toolCount)
  const answersFile = await recordAnswers({ ...options, catalog, toolCount })
  const servers = options.servers.filter((group) => group === 'fastify' || group === 'trivet')
  return listContenders({ ...options, servers }, { catalog, toolCount, answersFile })
}
