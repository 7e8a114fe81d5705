// A process that opens the folder of the LMDB store, as its argument names it, when it is told to. It prints
// `ready`, and then `opened` or `refused`.

import { once } from 'node:events'
import { openLmdbBackend } from '../../src/platform/store/backends/lmdb/open.ts'

const [folder = ''] = process.argv.slice(2)
console.log('ready')
await once(process.stdin, 'data')
console.log(await openLmdbBackend(`file:${folder}`, { log: console, prefix: 'trivet' }).then(
  () => 'opened', (error: unknown) => String(error).includes('another process') ? 'refused' : String(error)
))
