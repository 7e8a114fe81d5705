// Loads modules as Node does, and prints what each shows. The paths come as JSON on standard input.

import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { describeLoading } from './describe-module.mjs'

process.on('unhandledRejection', () => {})
const shown = []
for (const path of JSON.parse(await text(process.stdin))) {
  shown.push(await describeLoading(() => import(pathToFileURL(path).href)))
}
console.log(JSON.stringify(shown))
