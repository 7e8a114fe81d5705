// The official SDK with every schema made once, outside of the factory.

import { madeOnce } from './once.mjs'
import { serve } from './sdk-server.mjs'

await serve(madeOnce)
