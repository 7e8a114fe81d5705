// The official SDK, used as its documentation shows. The factory runs for every request, and makes its
// schemas inline.

import { serve } from './sdk-server.mjs'
import * as schemas from './zod-schemas.mjs'

await serve(schemas)
