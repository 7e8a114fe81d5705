// A worker that writes each order of its parent as a line, and ends with 3. Some never serve.

import { openParentLink, takeRole } from '../../../src/programs/process/worker.ts'

const role = takeRole()
if (role === undefined) throw new Error('this process is no worker')
const note = (line: string) => { process.stdout.write(`${line}\n`) }
const link = openParentLink(role, {
  turnUnready () { note('unready') },
  reload () { note('reload') },
  stop (order) {
    note(`stop ${order?.signal}`)
    process.exit(3)
  },
  reports: () => undefined
})
if (process.env.WORKER_SERVES === 'yes') link.tellReady()
