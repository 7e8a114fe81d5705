// Loads modules with Node's own loader, and prints a description of each. Reads their paths as JSON from
// standard input.

import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { describeLoading } from './describe-module.mjs'

process.on('unhandledRejection', () => {})
const shown = []
for (const path of JSON.parse(await text(process.stdin))) {
  shown.push(await describeLoading(() => import(pathToFileURL(path).href)))
}
console.log(JSON.stringify(shown))
