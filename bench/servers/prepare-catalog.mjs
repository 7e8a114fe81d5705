import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { workspacePath } from '../workspace.mjs'
import { listContenders } from './contenders.mjs'
import { recordAnswers } from './trivet.mjs'

/**
 * Writes a catalog with `toolCount` tools, and lists the contenders to serve it.
 *
 * @param {string[]} [groups] those of `--servers` that the section can measure
 */
export async function prepareCatalog (options, toolCount, groups = ['fastify', 'trivet']) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, toolCount)
  const answersFile = await recordAnswers({ ...options, catalog, toolCount })
  const servers = options.servers.filter((group) => groups.includes(group))
  return listContenders({ ...options, servers }, { catalog, toolCount, answersFile })
}
