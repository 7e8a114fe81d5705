// How long a cold start takes, from the spawn of the process to the line that says where it listens.

import { writeCatalog } from './catalog.mjs'
import { startTrivet } from './peers.mjs'
import { ask, requests } from './requests.mjs'
import { median } from './stats.mjs'
import { workspacePath } from './workspace.mjs'

const TOOLS = 5000

/**
 * @param {{ main: string, startups: number }} options
 */
export async function benchStartup ({ main, startups }) {
  const runs = []
  for (let run = 0; run < startups; run++) {
    // A new folder each time: nothing that an earlier run may have kept for it can help.
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, TOOLS)
    const trivet = await startTrivet(main, catalog)
    try {
      await ask(trivet.url, requests(TOOLS)[0])
      runs.push(trivet.startMs)
    } finally {
      await trivet.stop()
    }
  }
  return { tools: TOOLS, ms: median(runs), runs }
}
