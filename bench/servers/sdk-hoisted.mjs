// The official SDK. Every schema is made once, outside the factory.

import { madeOnce } from './once.mjs'
import { serve } from './sdk-server.mjs'

await serve(madeOnce)
