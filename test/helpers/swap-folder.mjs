// A process that swaps a folder for a link and back, until it is told to stop.
// Its arguments: the folder, the link that takes its place, and a path for the folder meanwhile.

import { renameSync } from 'node:fs'

const [folder, link, aside] = process.argv.slice(2)
/** Swaps between two looks for the message that ends the process. */
const BATCH = 50
let swaps = 0

function swapOn () {
  for (let i = 0; i < BATCH; i++) {
    renameSync(folder, aside)
    renameSync(link, folder)
    renameSync(folder, link)
    renameSync(aside, folder)
    swaps++
  }
  next = setImmediate(swapOn)
}

let next = setImmediate(swapOn)
process.once('message', () => {
  clearImmediate(next)
  process.send(swaps)
  process.disconnect()
})
process.send('ready')
