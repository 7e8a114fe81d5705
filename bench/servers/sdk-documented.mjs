// The official SDK as its documentation shows it: the factory, which runs for every request, writes its
// schemas inline.

import { serve } from './sdk-server.mjs'
import * as schemas from './zod-schemas.mjs'

await serve(schemas)
