// The sections of the benchmark, in their order. Each section has `name`, `about`, `run` and `print`. Some
// sections have `yardsticks`.

import * as access from './access.mjs'
import * as alone from './alone.mjs'
import * as calls from './calls.mjs'
import * as edit from './edit.mjs'
import * as eras from './eras.mjs'
import * as files from './files.mjs'
import * as first from './first.mjs'
import * as folders from './folders.mjs'
import * as growth from './growth.mjs'
import * as half from './half.mjs'
import * as latency from './latency.mjs'
import * as overload from './overload.mjs'
import * as payloads from './payloads.mjs'
import * as refusals from './refusals.mjs'
import * as reload from './reload.mjs'
import * as replicas from './replicas.mjs'
import * as startup from './startup.mjs'
import * as state from './state.mjs'
import * as streams from './streams.mjs'
import * as tasks from './tasks.mjs'
import * as upstreams from './upstreams.mjs'

export const SECTIONS = [
  calls, first, half, alone, eras, access, growth, latency, overload, refusals, payloads, files, reload, edit,
  startup, folders, streams, state, tasks, upstreams, replicas
]
