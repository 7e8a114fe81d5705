// For `node --import`: tests and sources run as they are written.

import { register } from 'node:module'

register('./types.mjs', import.meta.url)
