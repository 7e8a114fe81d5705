// Compares the work of an author: the same shop, written for Trivet, for the official SDK and for fastmcp.
// Prints a table in Markdown. Run it with `npm run comparison`.

import { parseArgs } from 'node:util'
import {
  assertWorks, canAskEarlier, canAskModern, isShared, reloads, survivesRestart
} from './behaviour.mjs'
import { CONTENDERS } from './contenders.mjs'
import { copyShop, installAll, installProduction, packTrivet, run } from './install.mjs'
import { countLines } from './lines.mjs'
import { serveShop } from './served-shop.mjs'
import { takeSteps } from './steps.mjs'

/** The figures that need nothing to be installed. */
async function count ({ folder, commands, byHand }) {
  const { files, lines, testLines } = await countLines(folder)
  return {
    'Lines of the shop': lines,
    'Lines of its test': testLines,
    'Files of both': files,
    'Commands from an empty folder to a served and tested tool': commands.length,
    'Files to write by hand for that': byHand.length
  }
}

async function measure (contender, tarball) {
  const say = (doing) => console.error(`${contender.name}: ${doing}`)
  say('the steps from an empty folder')
  await takeSteps(contender, tarball)
  say('the installation')
  const folder = await copyShop(contender, tarball)
  const { packages, bytes } = await installProduction(folder)
  await installAll(folder)
  say('its test')
  await run('npm', ['test'], folder)
  say('its behaviour')
  const survives = await survivesRestart(contender, folder)
  const shared = await isShared(contender, folder)
  const shop = await serveShop(contender, folder)
  await assertWorks(shop.url)
  const asksModern = await canAskModern(shop.url)
  const asksEarlier = await canAskEarlier(shop.url)
  const isReloaded = await reloads(contender, folder, shop.url)
  const { code, ms } = await shop.stop()
  return {
    'Packages installed for production': packages,
    'MB installed for production': Math.round(bytes / 1e6),
    'A tool asks its user, on a stateless request of 2026-07-28': toWord(asksModern),
    'A tool asks its user, for a client of 2025-11-25': toWord(asksEarlier),
    'A basket is known after a restart': toWord(survives),
    'A basket is known to a second replica': toWord(shared),
    'An edited tool is served without a restart': toWord(isReloaded),
    'Exit code after SIGTERM, and the time it takes': `${code}, ${Math.round(ms)} ms`
  }
}

function toWord (value) {
  return value === undefined ? 'not tried: no redis-server here' : value ? 'yes' : 'no'
}

function printTable (columns) {
  const print = (cells) => console.log(`| ${cells.join(' | ')} |`)
  print(['', ...CONTENDERS.map(({ name }) => name)])
  print(['---', ...CONTENDERS.map(() => '---')])
  for (const row of Object.keys(columns[0])) print([row, ...columns.map((column) => column[row])])
}

const { values } = parseArgs({ options: { count: { type: 'boolean', default: false } } })
const tarball = values.count ? undefined : await packTrivet()
const columns = []
for (const contender of CONTENDERS) {
  const measured = values.count ? {} : await measure(contender, tarball)
  columns.push({ ...await count(contender), ...measured })
}
printTable(columns)
process.exit()
