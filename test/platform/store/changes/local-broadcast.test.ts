import t from 'tap'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'
import { checkBroadcast } from '../../../contracts/broadcast-contract.ts'

checkBroadcast(t, async () => createLocalBroadcast())
